package check

import "k8s.io/apimachinery/pkg/api/validate/content"

// PathSegment checks a name that may be all that fits between two slashes of an address, as roles have it: no ".", no "..", no "/" and no "%". It has the shape of a Resource's Name.
func PathSegment(name string, prefix bool) []string {
	if prefix {
		return content.IsPathSegmentPrefix(name)
	}
	return content.IsPathSegmentName(name)
}
