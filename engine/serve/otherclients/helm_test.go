package otherclients

import (
	"fmt"
	"log/slog"
	"testing"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/kube"
	"helm.sh/helm/v4/pkg/release"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
)

// Helm installs a chart, changes it, goes back and takes it away again, and waits each time until it is so; its test hook is a Pod.
func TestHelmInstallsUpgradesRollsBackAndUninstalls(t *testing.T) {
	for name, wait := range map[string]kube.WaitStrategy{"by watching": kube.StatusWatcherStrategy, "by asking": kube.LegacyStrategy} {
		t.Run(name, func(t *testing.T) {
			c := open(t)
			ctx := t.Context()
			const ns = "shop"
			flags := genericclioptions.NewConfigFlags(false)
			flags.KubeConfig, flags.CacheDir = &c.kubeconfig, new(t.TempDir())
			flags.Namespace = new(ns)
			cfg := action.NewConfiguration(action.ConfigurationSetLogger(slog.DiscardHandler))
			must(t, cfg.Init(flags, ns, "secret"))
			chart, err := loader.LoadDir("testdata/chart")
			must(t, err)

			what := func(err error, r any) (version int, status string) {
				t.Helper()
				must(t, err)
				a, err := release.NewAccessor(r)
				must(t, err)
				return a.Version(), a.Status()
			}
			stored := func() (replicas int32, page string) {
				t.Helper()
				d, err := c.kube.AppsV1().Deployments(ns).Get(ctx, "web", metav1.GetOptions{})
				must(t, err)
				if d.Status.ReadyReplicas != *d.Spec.Replicas {
					t.Errorf("%d of %d are ready", d.Status.ReadyReplicas, *d.Spec.Replicas)
				}
				m, err := c.kube.CoreV1().ConfigMaps(ns).Get(ctx, "web", metav1.GetOptions{})
				must(t, err)
				return *d.Spec.Replicas, m.Data["page"]
			}
			expect := func(step string, version int, status string, wantVersion int, wantReplicas int32, wantPage string) {
				t.Helper()
				if replicas, page := stored(); version != wantVersion || status != "deployed" || replicas != wantReplicas || page != wantPage {
					t.Errorf("%s: revision %d is %s, %d replicas, page %q", step, version, status, replicas, page)
				}
			}

			install := action.NewInstall(cfg)
			install.ReleaseName, install.Namespace, install.CreateNamespace, install.WaitStrategy, install.WaitForJobs, install.Timeout = "web", ns, true, wait, true, patience
			r, err := install.Run(chart, map[string]any{"replicas": 2})
			version, status := what(err, r)
			expect("installed", version, status, 1, 2, "hello")

			testing := action.NewReleaseTesting(cfg)
			testing.Namespace, testing.Timeout = ns, patience
			_, done, err := testing.Run("web")
			must(t, err)
			must(t, done())
			tester, err := c.kube.CoreV1().Pods(ns).Get(ctx, "web-test", metav1.GetOptions{})
			must(t, err)
			if tester.Status.Phase != corev1.PodSucceeded {
				t.Errorf("the test is %s", tester.Status.Phase)
			}

			upgrade := action.NewUpgrade(cfg)
			upgrade.Namespace, upgrade.WaitStrategy, upgrade.Timeout = ns, wait, patience
			r, err = upgrade.Run("web", chart, map[string]any{"replicas": 3, "page": "news"})
			version, status = what(err, r)
			expect("upgraded", version, status, 2, 3, "news")

			rollback := action.NewRollback(cfg)
			rollback.Version, rollback.WaitStrategy, rollback.Timeout = 1, wait, patience
			must(t, rollback.Run("web"))
			r, err = action.NewGet(cfg).Run("web")
			version, status = what(err, r)
			expect("rolled back", version, status, 3, 2, "hello")

			secrets, err := c.kube.CoreV1().Secrets(ns).List(ctx, metav1.ListOptions{LabelSelector: "owner=helm,name=web"})
			must(t, err)
			for _, s := range secrets.Items {
				if s.Type != "helm.sh/release.v1" {
					t.Errorf("%s is of type %s", s.Name, s.Type)
				}
			}
			if len(secrets.Items) != 3 {
				t.Errorf("%d revisions are stored", len(secrets.Items))
			}

			uninstall := action.NewUninstall(cfg)
			uninstall.WaitStrategy, uninstall.Timeout, uninstall.DeletionPropagation = wait, patience, "foreground"
			_, err = uninstall.Run("web")
			must(t, err)
			if _, err := c.kube.AppsV1().Deployments(ns).Get(ctx, "web", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				t.Errorf("uninstalled, and read: %v", err)
			}
			c.until("nothing is left", func() error {
				pods, err := c.kube.CoreV1().Pods(ns).List(ctx, metav1.ListOptions{LabelSelector: "app=web"})
				if err != nil {
					return err
				}
				services, err := c.kube.CoreV1().Services(ns).List(ctx, metav1.ListOptions{})
				if err != nil {
					return err
				}
				accounts, err := c.kube.CoreV1().ServiceAccounts(ns).List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=web"})
				if err == nil && len(pods.Items)+len(services.Items)+len(accounts.Items) != 0 {
					err = fmt.Errorf("%d pods, %d services, %d service accounts", len(pods.Items), len(services.Items), len(accounts.Items))
				}
				return err
			})
			if _, err := c.kube.CoreV1().Secrets(ns).List(ctx, metav1.ListOptions{FieldSelector: "type=" + string(corev1.SecretTypeOpaque)}); err != nil {
				t.Error(err)
			}
		})
	}
}
