package runtime

import "testing"

func TestAWellKnownRepositoryHasTheTagsThatItHas(t *testing.T) {
	for name, there := range map[string]bool{
		"nginx": true, "nginx:latest": true, "nginx:1.27": true, "nginx:1": true, "nginx:1.14.2": true, "nginx:1.25-alpine": true, "nginx:1.27.3-alpine3.20-slim": true, "nginx:stable-perl": true,
		"nginx:alpine3.22": true, "docker.io/library/nginx:mainline-bookworm": true, "nginx:1.161": false, "nginx:1.91": false, "nginx:3": false, "nginx:typo": false, "nginx:latestt": false, "nginx:1.27-typo": false,
		"nginx:v1.27": false, "nginx:99999999999999999999": false, "nginx:1.2.": false, "httpd:2.4": true, "httpd:2.5": false, "redis:7": true, "redis:7.4.1-alpine": true, "redis:77": false, "busybox:1.36": true,
		"busybox:1.36.1-musl": true, "busybox:2": false, "ubuntu:22.04": true, "ubuntu:22.05": false, "ubuntu:noble": true, "postgres:17": true, "postgres:9.6.24": true, "postgres:9.9": false, "mysql:8.0": true,
		"gcr.io/google-samples/kubernetes-bootcamp:v1": true, "gcr.io/google-samples/kubernetes-bootcamp:v10": false, "docker.io/jocatalin/kubernetes-bootcamp:v2": true,
		"my.example.com/app:whatever": true, "shop/cart:v12": true, "app:nosuch-tag": false,
		"nginx@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef": true,
	} {
		if got := !Describe(name).Missing; got != there {
			t.Errorf("%s is there: %v, want %v", name, got, there)
		}
	}
}
