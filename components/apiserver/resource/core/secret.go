package core

import (
	"crypto/tls"
	"encoding/json"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/engine/kinds"
)

func secretResource() *resource.Resource {
	type secret = *corev1.Secret
	return &resource.Resource{
		Kind:    kinds.Secrets,
		Name:    apivalidation.NameIsDNSSubdomain,
		Default: resource.Typed(defaultSecret),
		PrepareUpdate: resource.TypedUpdate(func(s, old secret, _ string) {
			if s.Type == "" {
				s.Type = old.Type
			}
		}),
		UpdateWhole: true,
		Validate:    resource.TypedCheck(validateSecret),
		ValidateUpdate: resource.TypedCheckUpdate(func(s, old secret, _ string) field.ErrorList {
			errs := apivalidation.ValidateImmutableField(s.Type, old.Type, field.NewPath("type"))
			if sealed(old.Immutable) {
				errs = append(errs, stillSealed(s.Immutable)...)
				errs = append(errs, unchanged(s.Data, old.Data, "data")...)
			}
			return append(errs, validateSecret(s)...)
		}),
		Fields: map[string]func(kinds.Object) string{
			"type": resource.TypedValue(func(s secret) string { return string(s.Type) }),
		},
		Warn: resource.TypedWarn(func(s, _ secret) []string {
			if s.Type != corev1.SecretTypeTLS {
				return nil
			}
			if _, err := tls.X509KeyPair(s.Data[corev1.TLSCertKey], s.Data[corev1.TLSPrivateKeyKey]); err != nil {
				return []string{err.Error()}
			}
			return nil
		}),
	}
}

// defaultSecret turns stringData, which is never stored, into data.
func defaultSecret(s *corev1.Secret) {
	for k, v := range s.StringData {
		if s.Data == nil {
			s.Data = map[string][]byte{}
		}
		s.Data[k] = []byte(v)
	}
	s.StringData = nil
	if s.Type == "" {
		s.Type = corev1.SecretTypeOpaque
	}
}

// redacted stands for contents of secrets in errors.
const redacted = "<secret contents redacted>"

func validateSecret(s *corev1.Secret) field.ErrorList {
	var errs field.ErrorList
	data := field.NewPath("data")
	size := 0
	for _, k := range slices.Sorted(maps.Keys(s.Data)) {
		errs = append(errs, check.Texts(data.Key(k), k, validation.IsConfigMapKey(k))...)
		size += len(s.Data[k])
	}
	if size > sizeMax {
		errs = append(errs, field.TooLong(data, "", sizeMax))
	}
	missing := func(keys ...string) (all bool) {
		all = true
		for _, k := range keys {
			_, ok := s.Data[k]
			all = all && !ok
		}
		return all
	}
	need := func(key string) { errs = append(errs, field.Required(data.Key(key), "")) }
	switch s.Type {
	case corev1.SecretTypeServiceAccountToken:
		if s.Annotations[corev1.ServiceAccountNameKey] == "" {
			errs = append(errs, field.Required(field.NewPath("metadata", "annotations").Key(corev1.ServiceAccountNameKey), ""))
		}
	case corev1.SecretTypeDockercfg:
		errs = append(errs, jsonKey(s.Data, corev1.DockerConfigKey, data)...)
	case corev1.SecretTypeDockerConfigJson:
		errs = append(errs, jsonKey(s.Data, corev1.DockerConfigJsonKey, data)...)
	case corev1.SecretTypeBasicAuth:
		if missing(corev1.BasicAuthUsernameKey, corev1.BasicAuthPasswordKey) {
			need(corev1.BasicAuthUsernameKey)
			need(corev1.BasicAuthPasswordKey)
		}
	case corev1.SecretTypeSSHAuth:
		if len(s.Data[corev1.SSHAuthPrivateKey]) == 0 {
			need(corev1.SSHAuthPrivateKey)
		}
	case corev1.SecretTypeTLS:
		for _, k := range []string{corev1.TLSCertKey, corev1.TLSPrivateKeyKey} {
			if missing(k) {
				need(k)
			}
		}
	}
	return errs
}

// jsonKey asks for a key that holds a JSON object.
func jsonKey(data map[string][]byte, key string, at *field.Path) field.ErrorList {
	raw, ok := data[key]
	if !ok {
		return field.ErrorList{field.Required(at.Key(key), "")}
	}
	if err := json.Unmarshal(raw, &map[string]any{}); err != nil {
		return field.ErrorList{field.Invalid(at.Key(key), redacted, err.Error())}
	}
	return nil
}
