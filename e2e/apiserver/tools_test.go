package apiserver_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	kubectlapply "k8s.io/kubectl/pkg/cmd/apply"
	kubectlscale "k8s.io/kubectl/pkg/cmd/scale"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
)

// access is how kubectl and Helm find the server; the namespace is the one that
// a command line asks for, or none.
type access struct {
	*server
	namespace string
}

// ToRESTConfig is the way in, for the caller to change.
func (a *access) ToRESTConfig() (*rest.Config, error) { return rest.CopyConfig(a.config), nil }

// ToDiscoveryClient asks what the server serves.
func (a *access) ToDiscoveryClient() (discovery.CachedDiscoveryInterface, error) {
	client, err := discovery.NewDiscoveryClientForConfig(a.config)
	return memory.NewMemCacheClient(client), err
}

// ToRESTMapper knows the resource of each kind.
func (a *access) ToRESTMapper() (meta.RESTMapper, error) { return a.mapper, nil }

// ToRawKubeConfigLoader is asked for the namespace alone.
func (a *access) ToRawKubeConfigLoader() clientcmd.ClientConfig {
	overrides := &clientcmd.ConfigOverrides{
		ClusterInfo: clientcmdapi.Cluster{Server: a.config.Host},
		Context:     clientcmdapi.Context{Namespace: a.namespace},
	}
	return clientcmd.NewDefaultClientConfig(*clientcmdapi.NewConfig(), overrides)
}

// kubectl runs one command of kubectl's own code; an error has what it printed.
func (s *server) kubectl(t *testing.T, line ...string) error {
	t.Helper()
	streams, _, out, problem := genericiooptions.NewTestIOStreams()
	way := &access{server: s}
	factory := cmdutil.NewFactory(way)
	root := &cobra.Command{Use: "kubectl", SilenceUsage: true, SilenceErrors: true}
	root.AddCommand(kubectlapply.NewCmdApply("kubectl", factory, streams), kubectlscale.NewCmdScale(factory, streams))
	root.PersistentFlags().StringVarP(&way.namespace, "namespace", "n", "", "")
	root.SetArgs(line)
	if err := run(root); err != nil {
		return fmt.Errorf("kubectl %s: %w\n%s%s", strings.Join(line, " "), err, out, problem)
	}
	return nil
}

// fatal is what kubectl would have printed before it exits.
type fatal string

func (f fatal) Error() string { return string(f) }

// run turns kubectl's exit into an error.
func run(command *cobra.Command) (err error) {
	cmdutil.BehaviorOnFatal(func(text string, _ int) { panic(fatal(text)) })
	defer cmdutil.DefaultBehaviorOnFatal()
	defer func() {
		switch reason := recover().(type) {
		case nil:
		case fatal:
			err = reason
		default:
			panic(reason)
		}
	}()
	return command.ExecuteContext(context.Background())
}

// file is a text in a file of its own, for a command line.
func file(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "manifest.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}
