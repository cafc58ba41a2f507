// Package openapi serves the OpenAPI documents of the API: the index /openapi/v3, a document per group version below it, and /openapi/v2, as JSON and as protobuf.
//
// The definitions (fields, descriptions, defaults, list types) are made by kube-openapi's openapi-gen from the sources of the Kubernetes types and kept as one embedded file of 0.4 MB,
// compressed. The Go code that openapi-gen writes has 1.7 MB, costs every build seconds and would bring kube-openapi's builders and go-restful into the program, only to be turned into
// the same JSON when it runs. `go generate ./components/apiserver/openapi` makes the file again; its module (generate) has the versions of the program's module, which a test compares.
// Operations are made from the table of kinds: what each kind can do, its subresources and its faces. Kinds that CustomResourceDefinitions define are
// added from their schemas, as the server has them at the time of the request.
//
// Nothing is read or built before the first request; documents are immutable afterwards and shared by all servers that share a Handler. Goroutines: any may call a Handler.
// Time: none; entity tags are hashes of the content.
package openapi

//go:generate go run -C generate .
