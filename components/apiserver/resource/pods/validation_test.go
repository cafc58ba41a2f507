package pods

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// base is the pod that the cases change.
const base = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"default"},"spec":{"containers":[{"name":"c","image":"nginx"}]}}`

// podOf makes a pod of texts laid over each other, as a JSON merge patch does, and fills it in.
func podOf(t testing.TB, texts ...string) *corev1.Pod {
	t.Helper()
	p := sentPod(t, texts...)
	preparePod(p)
	return p
}

// sentPod is the same before it is prepared, as templates stay.
func sentPod(t testing.TB, texts ...string) *corev1.Pod {
	t.Helper()
	var p corev1.Pod
	if err := json.Unmarshal(merged(t, texts...), &p); err != nil {
		t.Fatal(err)
	}
	defaultPod(&p)
	return &p
}

// merged is the text of a pod to be sent.
func merged(t testing.TB, texts ...string) []byte {
	t.Helper()
	var whole any
	for _, text := range append([]string{base}, texts...) {
		if text == "" {
			continue
		}
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		whole = laid(whole, v)
	}
	raw, err := json.Marshal(whole)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func laid(under, over any) any {
	u, ok := under.(map[string]any)
	o, both := over.(map[string]any)
	if !ok || !both {
		return over
	}
	for k, v := range o {
		if v == nil {
			delete(u, k)
		} else {
			u[k] = laid(u[k], v)
		}
	}
	return u
}

func lines(errs field.ErrorList) string {
	var out []string
	for _, e := range errs {
		out = append(out, e.Error())
	}
	return strings.Join(out, "\n")
}

// spec, container and mounted wrap what a case is about.
func spec(text string) string { return `{"spec":{` + text + `}}` }
func container(text string) string {
	return spec(`"containers":[{"name":"c","image":"nginx",` + text + `}]`)
}
func volume(text string) string { return spec(`"volumes":[{"name":"v",` + text + `}]`) }

func TestPodsAreRefusedInTheWordsOfKubernetes(t *testing.T) {
	for _, c := range refusals {
		t.Run(c.name, func(t *testing.T) {
			if got := lines(validatePod(podOf(t, c.over))); got != strings.Join(c.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", got, strings.Join(c.want, "\n"))
			}
		})
	}
}

type refusal struct {
	name, over string
	want       []string // none: the pod is accepted
}

const (
	label1123 = `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')`
	subdomain = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`
)

var refusals = []refusal{
	{"a plain pod", "", nil},
	{"a container name that is no label", spec(`"containers":[{"name":"C","image":"nginx"}]`), []string{`spec.containers[0].name: Invalid value: "C": ` + label1123}},
	{"blanks around an image", spec(`"containers":[{"name":"c","image":" nginx"}]`), []string{`spec.containers[0].image: Invalid value: " nginx": must not have leading or trailing whitespace`}},
	{"an init container with the name of another", spec(`"initContainers":[{"name":"c","image":"a"}]`), []string{`spec.initContainers[0].name: Duplicate value: "c"`}},
	{"an init container with a probe", spec(`"initContainers":[{"name":"i","image":"a","readinessProbe":{"tcpSocket":{"port":80}}}]`), []string{`spec.initContainers[0].readinessProbe: Forbidden: may not be set for init containers without restartPolicy=Always`}},
	{"a sidecar with a probe", spec(`"initContainers":[{"name":"i","image":"a","restartPolicy":"Always","readinessProbe":{"tcpSocket":{"port":80}}}]`), nil},
	{"a container that always restarts in a way unknown", container(`"restartPolicy":"Sometimes"`), []string{`spec.containers[0].restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "Never", "OnFailure"`}},
	{"restart rules without a policy", container(`"restartPolicyRules":[{"action":"Restart","exitCodes":{"operator":"In","values":[1]}}]`), []string{`spec.containers[0].restartPolicy: Required value: must specify restartPolicy when restart rules are used`}},
	{"a restart rule without exit codes", container(`"restartPolicy":"Never","restartPolicyRules":[{"action":"Retry"}]`), []string{
		`spec.containers[0].restartPolicyRules[0].action: Unsupported value: "Retry": supported values: "Restart", "RestartAllContainers"`,
		`spec.containers[0].restartPolicyRules[0].exitCodes: Required value: must be specified`}},
	{"ephemeral containers from the start", spec(`"ephemeralContainers":[{"name":"e","image":"a","ports":[{"containerPort":1,"protocol":"TCP"}],"terminationMessagePolicy":"File","imagePullPolicy":"Always","targetContainerName":"x"}]`), []string{
		`spec.ephemeralContainers[0].targetContainerName: Not found: "x"`,
		`spec.ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral Container`,
		`spec.ephemeralContainers: Forbidden: cannot be set on create`}},
	// Ports.
	{"a port without a number", container(`"ports":[{"name":"web"}]`), []string{`spec.containers[0].ports[0].containerPort: Required value`}},
	{"a port above the last", container(`"ports":[{"containerPort":65536}]`), []string{`spec.containers[0].ports[0].containerPort: Invalid value: 65536: must be between 1 and 65535, inclusive`}},
	{"a port of an unknown protocol", container(`"ports":[{"containerPort":80,"protocol":"ICMP"}]`), []string{`spec.containers[0].ports[0].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"`}},
	{"two ports of one name", container(`"ports":[{"name":"web","containerPort":80},{"name":"web","containerPort":81}]`), []string{`spec.containers[0].ports[1].name: Duplicate value: "web"`}},
	{"a port name with a space", container(`"ports":[{"name":"a b","containerPort":80}]`), []string{`spec.containers[0].ports[0].name: Invalid value: "a b": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)`}},
	{"another host port with the network of the node", spec(`"hostNetwork":true,"containers":[{"name":"c","image":"nginx","ports":[{"containerPort":80,"hostPort":81}]}]`), []string{"spec.containers[0].ports[0].hostPort: Invalid value: 81: must match `containerPort` when `hostNetwork` is true"}},
	// Variables.
	{"a variable with an equals sign", container(`"env":[{"name":"a=b"}]`), []string{`spec.containers[0].env[0].name: Invalid value: "a=b": a valid environment variable name must consist only of printable ASCII characters other than '='`}},
	{"a variable from nowhere", container(`"env":[{"name":"A","valueFrom":{}}]`), []string{"spec.containers[0].env[0].valueFrom: Invalid value: \"\": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"}},
	{"a variable with a value and a source", container(`"env":[{"name":"A","value":"x","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}]`), []string{"spec.containers[0].env[0].valueFrom: Invalid value: \"\": may not be specified when `value` is not empty"}},
	{"a variable of a field that is for files", container(`"env":[{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"metadata.labels"}}}]`), []string{`spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Unsupported value: "metadata.labels": supported values: "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"`}},
	{"a variable of a field unknown", container(`"env":[{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"spec.nope"}}}]`), []string{`spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Invalid value: "spec.nope": error converting fieldPath: field label not supported: spec.nope`}},
	{"a variable of one label", container(`"env":[{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"metadata.labels['app']"}}}]`), nil},
	{"a variable of a resource with a bad divisor", container(`"env":[{"name":"A","valueFrom":{"resourceFieldRef":{"resource":"limits.cpu","divisor":"2"}}}]`), []string{`spec.containers[0].env[0].valueFrom.resourceFieldRef.divisor: Invalid value: "limits.cpu": only divisor's values 1m and 1 are supported with the cpu resource`}},
	{"a key of a ConfigMap without a key", container(`"env":[{"name":"A","valueFrom":{"configMapKeyRef":{"name":"m"}}}]`), []string{`spec.containers[0].env[0].valueFrom.configMapKeyRef.key: Required value`}},
	{"variables from nowhere", container(`"envFrom":[{}]`), []string{"spec.containers[0].envFrom: Invalid value: \"\": must specify one of: `configMapRef` or `secretRef`"}},
	{"a variable of a file in no volume", container(`"env":[{"name":"A","valueFrom":{"fileKeyRef":{"volumeName":"v","path":"f","key":"K"}}}]`), []string{`spec.containers[0].env[0].valueFrom.fileKeyRef.volumeName: Not found: "v"`}},
	// Probes and hooks.
	{"a probe of two kinds", container(`"livenessProbe":{"exec":{"command":["a"]},"tcpSocket":{"port":1}}`), []string{`spec.containers[0].livenessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type`}},
	{"a probe that runs nothing", container(`"livenessProbe":{"exec":{}}`), []string{`spec.containers[0].livenessProbe.exec.command: Required value`}},
	{"a probe by a scheme unknown", container(`"livenessProbe":{"httpGet":{"port":80,"scheme":"FTP"}}`), []string{`spec.containers[0].livenessProbe.httpGet.scheme: Unsupported value: "FTP": supported values: "HTTP", "HTTPS"`}},
	{"a readiness probe with a grace period", container(`"readinessProbe":{"tcpSocket":{"port":1},"terminationGracePeriodSeconds":1}`), []string{`spec.containers[0].readinessProbe.terminationGracePeriodSeconds: Invalid value: 1: must not be set for readinessProbes`}},
	{"a negative period", container(`"startupProbe":{"tcpSocket":{"port":1},"periodSeconds":-1}`), []string{`spec.containers[0].startupProbe.periodSeconds: Invalid value: -1: must be greater than or equal to 0`}},
	{"a hook that sleeps longer than the pod has", container(`"lifecycle":{"preStop":{"sleep":{"seconds":31}}}`), []string{`spec.containers[0].lifecycle.preStop.sleep: Invalid value: 31: must be non-negative and less than terminationGracePeriodSeconds (30)`}},
	{"a stop signal for no system", container(`"lifecycle":{"stopSignal":"SIGTERM"}`), []string{"spec.containers[0].lifecycle.stopSignal: Forbidden: may not be set for containers with empty `spec.os.name`"}},
	{"a stop signal that Windows has not", spec(`"os":{"name":"windows"},"securityContext":null,"containers":[{"name":"c","image":"a","lifecycle":{"stopSignal":"SIGHUP"}}]`), []string{`spec.containers[0].lifecycle.stopSignal: Unsupported value: "SIGHUP": supported values: "SIGKILL", "SIGTERM"`}},
	// Mounts, devices and volumes.
	{"two mounts at one place", `{"spec":{"volumes":[{"name":"v","emptyDir":{}}],"containers":[{"name":"c","image":"a","volumeMounts":[{"name":"v","mountPath":"/a"},{"name":"v","mountPath":"/a"}]}]}}`, []string{`spec.containers[0].volumeMounts[1].mountPath: Invalid value: "/a": must be unique`}},
	{"a subpath that leads out", `{"spec":{"volumes":[{"name":"v","emptyDir":{}}],"containers":[{"name":"c","image":"a","volumeMounts":[{"name":"v","mountPath":"/a","subPath":"../x"}]}]}}`, []string{`spec.containers[0].volumeMounts.subPath: Invalid value: "../x": must not contain '..'`}},
	{"a mount that shares both ways", `{"spec":{"volumes":[{"name":"v","emptyDir":{}}],"containers":[{"name":"c","image":"a","volumeMounts":[{"name":"v","mountPath":"/a","mountPropagation":"Bidirectional"}]}]}}`, []string{`spec.containers[0].volumeMounts.mountPropagation: Forbidden: Bidirectional mount propagation is available only to privileged containers`}},
	{"a device of a directory", `{"spec":{"volumes":[{"name":"v","emptyDir":{}}],"containers":[{"name":"c","image":"a","volumeDevices":[{"name":"v","devicePath":"/dev/a"}]}]}}`, []string{`spec.containers[0].volumeDevices[0].name: Invalid value: "v": can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode`}},
	{"a volume of two kinds", volume(`"emptyDir":{},"hostPath":{"path":"/"}`), []string{`spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type`}},
	{"two volumes of one name", spec(`"volumes":[{"name":"v","emptyDir":{}},{"name":"v","emptyDir":{}}]`), []string{`spec.volumes[1].name: Duplicate value: "v"`}},
	{"a negative size of a directory", volume(`"emptyDir":{"sizeLimit":"-1"}`), []string{`spec.volumes[0].emptyDir.sizeLimit: Forbidden: SizeLimit field must be a valid resource quantity`}},
	{"a path of the node of a kind unknown", volume(`"hostPath":{"path":"/a","type":"Pipe"}`), []string{`spec.volumes[0].hostPath.type: Unsupported value: "Pipe": supported values: "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"`}},
	{"a ConfigMap without a name and a mode too big", volume(`"configMap":{"defaultMode":512}`), []string{`spec.volumes[0].configMap.name: Required value`, `spec.volumes[0].configMap.defaultMode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive`}},
	{"a claim without a name", volume(`"persistentVolumeClaim":{"claimName":""}`), []string{`spec.volumes[0].persistentVolumeClaim.claimName: Required value`}},
	{"a token for pods without an account", volume(`"projected":{"sources":[{"serviceAccountToken":{"path":"t","expirationSeconds":5}}]}`), []string{
		`spec.volumes[0].projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 5: may not specify a duration less than 10 minutes`,
		`spec.volumes[0].projected.sources[0].serviceAccountToken: Forbidden: must not be specified when serviceAccountName is not set`}},
	{"two files of one name in a projected volume", volume(`"projected":{"sources":[{"configMap":{"name":"m","items":[{"key":"a","path":"f"}]}},{"secret":{"name":"s","items":[{"key":"b","path":"f"}]}}]}`), []string{`spec.volumes[0].projected: Invalid value: "s": conflicting duplicate paths`}},
	{"a certificate by a signer without a domain", volume(`"projected":{"sources":[{"podCertificate":{"signerName":"x/y","keyType":"RSA1024","maxExpirationSeconds":60}}]}`), []string{
		`spec.volumes[0].projected.sources[0].podCertificate.signerName: Invalid value: "x": should be a domain with at least two segments separated by dots`,
		`spec.volumes[0].projected.sources[0].podCertificate.keyType: Unsupported value: "RSA1024": supported values: "RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"`,
		`spec.volumes[0].projected.sources[0].podCertificate.maxExpirationSeconds: Invalid value: 60: if provided, maxExpirationSeconds must be >= 3600`,
		`spec.volumes[0].projected.sources[0].podCertificate: Required value: specify at least one of credentialBundlePath, keyPath, and certificateChainPath`}},
	{"a claim made for the pod without a size", volume(`"ephemeral":{"volumeClaimTemplate":{"spec":{"accessModes":["ReadWriteOnce"]}}}`), []string{`spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources[storage]: Required value`}},
	{"a claim that the pod itself makes", spec(`"volumes":[{"name":"v","ephemeral":{"volumeClaimTemplate":{"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}}},{"name":"w","persistentVolumeClaim":{"claimName":"p-v"}}]`), []string{`spec.volumes[1].persistentVolumeClaim.claimName: Invalid value: "p-v": must not reference a PVC that gets created for an ephemeral volume`}},
	// Resources.
	{"huge pages alone", container(`"resources":{"limits":{"hugepages-2Mi":"3Mi"}}`), []string{
		`spec.containers[0].resources.limits[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi`,
		`spec.containers[0].resources.requests[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi`,
		`spec.containers[0].resources: Forbidden: HugePages require cpu or memory`}},
	{"a device in parts", container(`"resources":{"limits":{"example.com/gpu":"500m"}}`), []string{
		`spec.containers[0].resources.limits[example.com/gpu]: Invalid value: "500m": must be an integer`,
		`spec.containers[0].resources.requests[example.com/gpu]: Invalid value: "500m": must be an integer`}},
	{"a container that asks for more than its pod", spec(`"resources":{"requests":{"cpu":"1"},"limits":{"cpu":"1"}},"containers":[{"name":"c","image":"a","resources":{"requests":{"cpu":"2"},"limits":{"cpu":"2"}}}]`), []string{
		`spec.resources.requests[cpu]: Invalid value: "1": must be greater than or equal to aggregate container requests of 2`,
		`spec.resources.containers[0][cpu].limits: Invalid value: "2": must be less than or equal to pod limits of 1`}},
	{"a pod that asks for storage as a whole", spec(`"resources":{"requests":{"ephemeral-storage":"1"}}`), []string{`spec.resources.requests[ephemeral-storage]: Unsupported value: "ephemeral-storage": supported values: "cpu", "hugepages-", "memory"`}},
	{"a claim that the pod has not", container(`"resources":{"claims":[{"name":"x"}]}`), []string{`spec.containers[0].resources.claims[0]: Not found: "x": must be one of the names in pod.spec.resourceClaims which is empty`}},
	{"a claim of nothing", spec(`"resourceClaims":[{"name":"x"}]`), []string{"spec.resourceClaims[0]: Invalid value: {\"Name\":\"x\",\"ResourceClaimName\":null,\"ResourceClaimTemplateName\":null}: must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"}},
	{"an overhead of an unknown resource", spec(`"overhead":{"nope":"1"}`), []string{
		`spec.overhead.limits[nope]: Invalid value: "nope": must be a standard resource type or fully qualified`,
		`spec.overhead.limits[nope]: Invalid value: "nope": must be a standard resource for containers`}},
	{"two policies of resizing one resource", container(`"resizePolicy":[{"resourceName":"cpu","restartPolicy":"NotRequired"},{"resourceName":"cpu","restartPolicy":"Maybe"}]`), []string{
		`spec.containers[0].resizePolicy[1]: Duplicate value: "cpu"`,
		`spec.containers[0].resizePolicy: Unsupported value: "Maybe": supported values: "NotRequired", "RestartContainer"`}},
	// Where it runs.
	{"a node name that is none", spec(`"nodeName":"A"`), []string{`spec.nodeName: Invalid value: "A": ` + subdomain}},
	{"a deadline of nothing", spec(`"activeDeadlineSeconds":0`), []string{`spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive`}},
	{"no terms of nodes", spec(`"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[]}}}`), []string{`spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: Required value: must have at least one node selector term`}},
	{"a preference of no weight", spec(`"affinity":{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":0,"preference":{"matchExpressions":[{"key":"a","operator":"Near"}]}}]}}`), []string{
		`spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 0: must be in the range 1-100`,
		`spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0].operator: Invalid value: "Near": not a valid selector operator`}},
	{"near to pods, but by what", spec(`"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"labelSelector":{"matchLabels":{"app":"a"}},"namespaces":["A"]}]}}`), []string{
		`spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].namespace: Invalid value: "A": ` + label1123,
		`spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Required value: can not be empty`,
		`spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Invalid value: "": name part must be non-empty`,
		`spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Invalid value: "": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`}},
	{"far from pods like itself, said twice", `{"metadata":{"labels":{"app":"a"}},"spec":{"affinity":{"podAntiAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":101,"podAffinityTerm":{"topologyKey":"zone","labelSelector":{"matchLabels":{"app":"a"}},"matchLabelKeys":["app"],"mismatchLabelKeys":["app"]}}]}}}}`, []string{
		`spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 101: must be in the range 1-100`,
		`spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm[0]: Invalid value: "app": exists in both matchLabelKeys and labelSelector`,
		`spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm[0]: Invalid value: "app": exists in both matchLabelKeys and labelSelector`,
		`spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.matchLabelKeys[0]: Invalid value: "app": exists in both matchLabelKeys and mismatchLabelKeys`}},
	{"a constraint that says nothing", spec(`"topologySpreadConstraints":[{}]`), []string{
		`spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero`,
		`spec.topologySpreadConstraints[0].topologyKey: Required value: can not be empty`,
		`spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "": supported values: "DoNotSchedule", "ScheduleAnyway"`}},
	{"one constraint twice", spec(`"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"ScheduleAnyway","minDomains":2},{"maxSkew":2,"topologyKey":"zone","whenUnsatisfiable":"ScheduleAnyway","matchLabelKeys":["app"],"nodeTaintsPolicy":"Love"}]`), []string{
		`spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: Duplicate value: "{zone, ScheduleAnyway}"`,
		`spec.topologySpreadConstraints[0].minDomains: Invalid value: 2: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway`,
		`spec.topologySpreadConstraints[1].nodeTaintsPolicy: Unsupported value: "Love": supported values: "Honor", "Ignore"`,
		`spec.topologySpreadConstraints[1].matchLabelKeys: Forbidden: must not be specified when labelSelector is not set`}},
	{"a toleration for a while of what does not evict", spec(`"tolerations":[{"key":"a","operator":"Exists","effect":"NoSchedule","tolerationSeconds":5}]`), []string{"spec.tolerations[0].effect: Invalid value: \"NoSchedule\": effect must be 'NoExecute' when `tolerationSeconds` is set"}},
	{"a toleration of a value where any will do", spec(`"tolerations":[{"key":"a","operator":"Exists","value":"x"}]`), []string{"spec.tolerations[0].operator: Invalid value: \"x\": value must be empty when `operator` is 'Exists'"}},
	{"a toleration that compares", spec(`"tolerations":[{"key":"a","operator":"Gt","value":"1"}]`), []string{`spec.tolerations[0].operator: Unsupported value: "Gt": supported values: "Equal", "Exists", "Lt", "Gt"`}},
	{"a gate twice", spec(`"schedulingGates":[{"name":"a"},{"name":"a"}]`), []string{`spec.schedulingGates[1]: Duplicate value: "a"`}},
	{"a gated pod on a node", spec(`"nodeName":"n","schedulingGates":[{"name":"a"}]`), []string{`spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared`}},
	{"a gate of readiness without a name", spec(`"readinessGates":[{"conditionType":"a b"}]`), []string{`spec.readinessGates[0].conditionType: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`}},
	// Names.
	{"no DNS, and nothing else", spec(`"dnsPolicy":"None"`), []string{"spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None"}},
	{"too many name servers", spec(`"dnsConfig":{"nameservers":["1.1.1.1","1.1.1.2","1.1.1.3","x"],"options":[{}]}`), []string{
		`spec.dnsConfig.nameservers: Invalid value: ["1.1.1.1","1.1.1.2","1.1.1.3","x"]: must not have more than 3 nameservers`,
		`spec.dnsConfig.nameservers[3]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`,
		`spec.dnsConfig.options[0]: Required value: must not be empty`}},
	{"a hostname with a dot", spec(`"hostname":"a.b","subdomain":"B"`), []string{`spec.hostname: Invalid value: "a.b": must not contain dots`, `spec.subdomain: Invalid value: "B": ` + label1123}},
	{"an alias of no address", spec(`"hostAliases":[{"ip":"x","hostnames":["A"]}]`), []string{`spec.hostAliases[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`, `spec.hostAliases[0].hostnames[0]: Invalid value: "A": ` + subdomain}},
	{"a preemption policy unknown", spec(`"preemptionPolicy":"Sometimes"`), []string{`spec.preemptionPolicy: Unsupported value: "Sometimes": supported values: "PreemptLowerPriority", "Never"`}},
	// Security.
	{"a user below nobody", spec(`"securityContext":{"runAsUser":-1}`), []string{`spec.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive`}},
	{"a sysctl of the network of the node", spec(`"hostNetwork":true,"securityContext":{"sysctls":[{"name":"net.core.x","value":"1"},{"name":"A","value":"1"}]}`), []string{
		`spec.securityContext.sysctls[0].name: Invalid value: "net.core.x": may not be specified when 'hostNetwork' is true`,
		`spec.securityContext.sysctls[1].name: Invalid value: "A": must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`}},
	{"a seccomp profile of the node without a file", spec(`"securityContext":{"seccompProfile":{"type":"Localhost"}}`), []string{`spec.securityContext.seccompProfile.localhostProfile: Required value: must be set when seccomp type is Localhost`}},
	{"a seccomp profile unknown", container(`"securityContext":{"seccompProfile":{"type":"Strict"}}`), []string{`spec.containers[0].securityContext.seccompProfile.type: Unsupported value: "Strict": supported values: "Localhost", "RuntimeDefault", "Unconfined"`}},
	{"an AppArmor profile without a type", container(`"securityContext":{"appArmorProfile":{}}`), []string{`spec.containers[0].securityContext.appArmorProfile.type: Required value: type is required when appArmorProfile is set`}},
	{"an AppArmor annotation that says something else", `{"metadata":{"annotations":{"container.apparmor.security.beta.kubernetes.io/c":"unconfined"}},"spec":{"containers":[{"name":"c","image":"a","securityContext":{"appArmorProfile":{"type":"RuntimeDefault"}}}]}}`, []string{`spec.containers[0].securityContext.appArmorProfile.type: Forbidden: apparmor type in annotation and field must match`}},
	{"a windows user with a star", spec(`"os":{"name":"windows"},"securityContext":{"windowsOptions":{"runAsUserName":"a\\b*"}}`), []string{`spec.securityContext.windowsOptions.runAsUserName: Invalid value: "a\\b*": runAsUserName's User cannot contain the following characters: "/\:;|=,+*?<>@[]`}},
	{"linux things on windows", spec(`"os":{"name":"windows"},"hostPID":true,"securityContext":{"fsGroup":1}`), []string{`spec.securityContext.fsGroup: Forbidden: cannot be set for a windows pod`, `spec.hostPID: Forbidden: cannot be set for a windows pod`}},
	{"a system unknown", spec(`"os":{"name":"plan9"}`), []string{`spec.os: Unsupported value: "plan9": supported values: "linux", "windows"`}},
	{"users of its own with devices of the node", spec(`"hostUsers":false,"hostNetwork":true,"hostIPC":true`), []string{"spec.hostNetwork: Forbidden: when `hostUsers` is false", "spec.HostIPC: Forbidden: when `hostUsers` is false"}},
	{"a deletion cost that is no number", `{"metadata":{"annotations":{"controller.kubernetes.io/pod-deletion-cost":"+1"}}}`, []string{`metadata.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: "+1": must be a 32bit integer`}},
	{"a mirror of nothing", `{"metadata":{"annotations":{"kubernetes.io/config.mirror":"x"}}}`, []string{`metadata.annotations[kubernetes.io/config.mirror]: Invalid value: "x": must set spec.nodeName if mirror pod annotation is set`}},
}

// withStatus is podOf with the status that the texts say.
func withStatus(t testing.TB, texts ...string) *corev1.Pod {
	t.Helper()
	p := podOf(t, texts...)
	class := p.Status.QOSClass
	p.Status = corev1.PodStatus{}
	for _, text := range texts {
		if text == "" {
			continue
		}
		var over corev1.Pod
		if err := json.Unmarshal([]byte(text), &over); err != nil {
			t.Fatal(err)
		}
		if over.Status.String() != (&corev1.PodStatus{}).String() {
			p.Status = over.Status
		}
	}
	if p.Status.QOSClass == "" {
		p.Status.QOSClass = class
	}
	return p
}

func TestTemplatesAreRefusedInTheWordsOfKubernetes(t *testing.T) {
	for _, c := range refusalsOfTemplates {
		t.Run(c.name, func(t *testing.T) {
			p := podOf(t, c.over)
			got := lines(ValidateTemplate(&corev1.PodTemplateSpec{ObjectMeta: p.ObjectMeta, Spec: p.Spec}, field.NewPath("spec", "template")))
			if got != strings.Join(c.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", got, strings.Join(c.want, "\n"))
			}
		})
	}
}

var refusalsOfTemplates = []refusal{
	{"blanks around an image, which templates may have", spec(`"containers":[{"name":"c","image":" "}]`), nil},
	{"a label with a space", `{"metadata":{"labels":{"app":"a b"}}}`, []string{`spec.template.labels: Invalid value: "a b": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`}},
	{"ephemeral containers", spec(`"ephemeralContainers":[{"name":"e","image":"a","terminationMessagePolicy":"File","imagePullPolicy":"Always"}]`), []string{`spec.template.spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod template`}},
	{"a deletion cost that is no number", `{"metadata":{"annotations":{"controller.kubernetes.io/pod-deletion-cost":"x"}}}`, []string{`spec.template.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: "x": must be a 32bit integer`}},
}

func TestPeopleAreWarnedOfWhatDoesLittle(t *testing.T) {
	for _, c := range []struct {
		name, over string
		template   bool
		want       []string
	}{
		{"nothing", "", false, nil},
		{"a variable twice", container(`"env":[{"name":"A","value":"1"},{"name":"A","value":"2"}]`), false, []string{`spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply`}},
		{"a variable that builds on itself", container(`"env":[{"name":"A","value":"1"},{"name":"A","value":"$(A)2"}]`), false, nil},
		{"an annotation of long ago", `{"metadata":{"annotations":{"scheduler.alpha.kubernetes.io/critical-pod":""}}}`, false, []string{`metadata.annotations[scheduler.alpha.kubernetes.io/critical-pod]: non-functional in v1.16+; use the "priorityClassName" field instead`}},
		{"a label of nodes of long ago", spec(`"nodeSelector":{"beta.kubernetes.io/os":"linux"}`), false, []string{`spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead`}},
		{"an AppArmor annotation in a template", `{"metadata":{"annotations":{"container.apparmor.security.beta.kubernetes.io/c":"unconfined"}}}`, true,
			[]string{`spec.template.metadata.annotations[container.apparmor.security.beta.kubernetes.io/c]: deprecated since v1.30; use the "appArmorProfile" field instead`}},
		{"an AppArmor annotation that says what the pod says", `{"metadata":{"annotations":{"container.apparmor.security.beta.kubernetes.io/c":"unconfined"}},"spec":{"securityContext":{"appArmorProfile":{"type":"Unconfined"}}}}`, true, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := podOf(t, c.over)
			var at *field.Path
			if c.template {
				p, at = sentPod(t, c.over), field.NewPath("spec", "template")
			}
			if got, want := strings.Join(warnings(&p.Spec, &p.ObjectMeta, at), "\n"), strings.Join(c.want, "\n"); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// typical is a pod as people write them: two containers with probes, resources, variables, volumes.
const typical = `{"metadata":{"labels":{"app":"web"}},"spec":{"serviceAccountName":"default","volumes":[{"name":"conf","configMap":{"name":"web"}},{"name":"data","emptyDir":{}},
{"name":"token","projected":{"sources":[{"serviceAccountToken":{"path":"token"}},{"configMap":{"name":"kube-root-ca.crt","items":[{"key":"ca.crt","path":"ca.crt"}]}},{"downwardAPI":{"items":[{"path":"namespace","fieldRef":{"fieldPath":"metadata.namespace"}}]}}]}}],
"containers":[{"name":"web","image":"nginx:1.27","ports":[{"name":"http","containerPort":80}],"env":[{"name":"A","value":"1"},{"name":"NODE","valueFrom":{"fieldRef":{"fieldPath":"spec.nodeName"}}}],
"resources":{"requests":{"cpu":"100m","memory":"64Mi"},"limits":{"memory":"128Mi"}},"readinessProbe":{"httpGet":{"path":"/","port":"http"}},"livenessProbe":{"tcpSocket":{"port":80}},
"volumeMounts":[{"name":"conf","mountPath":"/etc/nginx"},{"name":"data","mountPath":"/data"},{"name":"token","mountPath":"/var/run/secrets/kubernetes.io/serviceaccount","readOnly":true}]},
{"name":"log","image":"busybox","volumeMounts":[{"name":"data","mountPath":"/data"}]}],
"tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}],"nodeSelector":{"disk":"ssd"}}}`

func BenchmarkValidateTypicalPod(b *testing.B) {
	p := podOf(b, typical)
	if errs := validatePod(p); len(errs) > 0 {
		b.Fatal(errs)
	}
	for b.Loop() {
		validatePod(p)
	}
}

// Whatever is sent: nothing panics, and a pod that was accepted comes back from storage as it was, is filled in no further, and stays accepted, also as a template and as an update.
func FuzzPods(f *testing.F) {
	f.Add(merged(f, typical))
	for _, c := range append(refusals, refusalsOfTemplates...) {
		f.Add(merged(f, c.over))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var p corev1.Pod
		if json.Unmarshal(body, &p) != nil {
			return
		}
		defaultPod(&p)
		preparePod(&p)
		ValidateTemplate(&corev1.PodTemplateSpec{ObjectMeta: p.ObjectMeta, Spec: p.Spec}, field.NewPath("template"))
		if len(validatePod(&p)) > 0 {
			return
		}
		warnings(&p.Spec, &p.ObjectMeta, nil)
		raw, err := json.Marshal(&p)
		if err != nil {
			t.Fatal(err)
		}
		var again corev1.Pod
		if err := json.Unmarshal(raw, &again); err != nil {
			t.Fatalf("%v in %s", err, raw)
		}
		defaultPod(&again)
		if second, _ := json.Marshal(&again); string(second) != string(raw) {
			t.Errorf("filled in twice\n%s\nonce\n%s", second, raw)
		}
		if got := lines(validatePodUpdate(&again, &p, "")); got != "" {
			t.Errorf("a pod that was accepted is refused when nothing changes: %s", got)
		}
		if got := lines(validatePodUpdate(&again, &p, "status")); got != "" {
			t.Errorf("its status is refused: %s", got)
		}
	})
}
