package storage

import (
	"encoding/json"
	"strings"
	"testing"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/engine/kinds"
)

// filled is an object made of texts, each laid over those before, as the server fills it in.
func filled(t *testing.T, res *resource.Resource, texts ...string) kinds.Object {
	t.Helper()
	obj := res.Kind.New()
	for _, text := range texts {
		if text == "" {
			continue
		}
		if err := json.Unmarshal([]byte(text), obj); err != nil {
			t.Fatal(err)
		}
	}
	if res.Default != nil {
		res.Default(obj)
	}
	return obj
}

func TestWhatIsRefused(t *testing.T) {
	const segments = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character " +
		"(e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
	class, driver, node, capacity, attachment, attributes := storageClassResource(), csiDriverResource(), csiNodeResource(), csiStorageCapacityResource(), volumeAttachmentResource(), volumeAttributesClassResource()
	const attached = `{"spec":{"attacher":"a.example","nodeName":"n","source":{"persistentVolumeName":"v"}}}`
	for _, c := range []struct {
		name      string
		res       *resource.Resource
		old, text string // old empty: a creation; else text is laid over it
		want      []string
	}{
		{"a class in two places", class, "", `{"provisioner":"a/b","allowedTopologies":[{"matchLabelExpressions":[{"key":"zone","values":["a","b"]}]},{"matchLabelExpressions":[{"key":"zone","values":["c"]}]}]}`, nil},
		{"a class in one place twice", class, "", `{"provisioner":"a/b","allowedTopologies":[{"matchLabelExpressions":[{"key":"zone","values":["a","b"]}]},{"matchLabelExpressions":[{"key":"zone","values":["b","a"]}]}]}`,
			[]string{`allowedTopologies[1].matchLabelExpressions: Duplicate value: ""`}},
		{"a class in a place that says little", class, "", `{"provisioner":"a/b","allowedTopologies":[{"matchLabelExpressions":[{"key":"zone","values":[]},{"key":"zone","values":["a","a"]}]}]}`,
			[]string{`allowedTopologies[0].matchLabelExpressions[0].values: Required value`, `allowedTopologies[0].matchLabelExpressions[1].values[1]: Duplicate value: "a"`,
				`allowedTopologies[0].matchLabelExpressions[1].key: Duplicate value: "zone"`}},

		{"a driver", driver, "", `{}`, nil},
		{"a driver with wishes that cannot be", driver, "", `{"spec":{"fsGroupPolicy":"Some","volumeLifecycleModes":["Eternal"],"nodeAllocatableUpdatePeriodSeconds":9,"tokenRequests":[{"audience":"a","expirationSeconds":5},{"audience":"a"},{"audience":"b","expirationSeconds":4294967297}]}}`,
			[]string{`spec.fsGroupPolicy: Unsupported value: "Some": supported values: "File", "None", "ReadWriteOnceWithFSType"`,
				`spec.tokenRequests[0].expirationSeconds: Invalid value: 5: may not specify a duration less than 10 minutes`, `spec.tokenRequests[1].audience: Duplicate value: "a"`,
				`spec.tokenRequests[2].expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds`,
				`spec.volumeLifecycleModes: Unsupported value: "Eternal": supported values: "Persistent", "Ephemeral"`,
				`spec.nodeAllocatableUpdatePeriodSeconds: Invalid value: 9: must be greater than or equal to 10 seconds`}},
		{"a driver that attaches no more", driver, `{"spec":{"podInfoOnMount":true}}`, `{"spec":{"attachRequired":false,"podInfoOnMount":false}}`, []string{`spec.attachedRequired: Invalid value: false: field is immutable`}},

		{"drivers of a node", node, "", `{"spec":{"drivers":[{"name":"a.example","nodeID":"1","topologyKeys":["zone"],"allocatable":{"count":3}}]}}`, nil},
		{"bad drivers of a node", node, "", `{"spec":{"drivers":[{"name":"a.example","nodeID":"","topologyKeys":["zone","zone"],"allocatable":{"count":-1}},{"name":"a.example","nodeID":"1","topologyKeys":null},{"name":"a_b","nodeID":"1","topologyKeys":null}]}}`,
			[]string{`spec.drivers[0].nodeID: Required value`, `spec.drivers[0].allocatable.count: Invalid value: -1: must be greater than or equal to 0`, `spec.drivers[0]: Duplicate value: "zone"`,
				`spec.drivers[1].name: Duplicate value: "a.example"`, `spec.drivers[2].name: Invalid value: "a_b": ` + segments}},
		{"room for more volumes", node, `{"spec":{"drivers":[{"name":"a","nodeID":"1","topologyKeys":null,"allocatable":{"count":3}}]}}`, `{"spec":{"drivers":[{"name":"a","nodeID":"1","topologyKeys":null,"allocatable":{"count":4}}]}}`, nil},
		{"another name of a node", node, `{"spec":{"drivers":[{"name":"a","nodeID":"1","topologyKeys":null}]}}`, `{"spec":{"drivers":[{"name":"a","nodeID":"2","topologyKeys":null}]}}`,
			[]string{`spec.drivers: Invalid value: {"Name":"a","NodeID":"2","TopologyKeys":null,"Allocatable":null}: field is immutable`}},

		{"a capacity", capacity, "", `{"storageClassName":"s","capacity":"5Gi","nodeTopology":{"matchLabels":{"zone":"a"}}}`, nil},
		{"a bad capacity", capacity, "", `{"storageClassName":"S","capacity":"-5Gi"}`, []string{`storageClassName: Invalid value: "S": ` + segments, `capacity: Invalid value: "-5Gi": must be greater than or equal to 0`}},
		{"a capacity of another class", capacity, `{"storageClassName":"s","capacity":"5Gi"}`, `{"storageClassName":"t","capacity":"6Gi"}`, []string{`storageClassName: Invalid value: "t": field is immutable`}},

		{"an attachment", attachment, "", attached, nil},
		{"an attachment of nothing", attachment, "", `{"spec":{"nodeName":"n"}}`, []string{`spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName`, `spec.attacher: Required value`}},
		{"an attachment of two things", attachment, "", `{"spec":{"attacher":"a","nodeName":"n","source":{"persistentVolumeName":"v","inlineVolumeSpec":{}}}}`, []string{`spec.source: Forbidden: must specify exactly one of inlineVolumeSpec and persistentVolumeName`}},
		{"an attachment that failed oddly", attachment, attached, `{"status":{"attachError":{"errorCode":-1}}}`, []string{`status.attachError.errorCode: Invalid value: -1: must be between 0 and 2147483647, inclusive`}},
		{"an attachment elsewhere", attachment, attached, `{"spec":{"nodeName":"m"}}`,
			[]string{`spec: Invalid value: null: field is immutable`}},

		{"attributes", attributes, "", `{"driverName":"a.example","parameters":{"iops":"1"}}`, nil},
		{"no attributes", attributes, "", `{"driverName":""}`, []string{`driverName: Required value`, `parameters: Required value: must contain at least one key/value pair`}},
		{"other attributes", attributes, `{"driverName":"a.example","parameters":{"iops":"1"}}`, `{"driverName":"b.example","parameters":{"iops":"2"}}`,
			[]string{`driverName: Forbidden: updates to driverName are forbidden.`, `parameters: Forbidden: updates to parameters are forbidden.`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			obj := filled(t, c.res, c.old, c.text)
			var got []string
			if c.old == "" || !c.res.UpdateWhole {
				for _, e := range c.res.Validate(obj) {
					got = append(got, e.Error())
				}
			}
			if c.old != "" {
				for _, e := range c.res.ValidateUpdate(obj, filled(t, c.res, c.old), "") {
					got = append(got, e.Error())
				}
			}
			if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}
