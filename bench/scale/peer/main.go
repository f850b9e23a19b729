// A manager as the maintainers of controller-runtime advise: a cache that transforms away what is not read, selectors on the server,
// metadata-only watches where only changes matter, no client-side rate limit. It watches the kinds of Tartan's manager, and writes the
// status of each machine once.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"sync"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	passedCondition = "PeerPassed"
	hashAnnotation  = "tuist.dev/host-config-hash"
	core            = "cluster.x-k8s.io"
)

type reconciler struct {
	client.Client
	machines int
	mutex    sync.Mutex
	passed   map[types.NamespacedName]bool
}

func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	machine := &ScalewayAppleSiliconMachine{}
	if err := r.Get(ctx, request.NamespacedName, machine); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	host := &MacHost{}
	if err := r.Get(ctx, types.NamespacedName{Name: machine.Status.ServerID}, host); err != nil {
		return reconcile.Result{}, err
	}
	node := &corev1.Node{}
	if err := r.Get(ctx, types.NamespacedName{Name: machine.Name}, node); err != nil {
		return reconcile.Result{}, err
	}
	upToDate := metav1.ConditionFalse
	if node.Annotations[hashAnnotation] == machine.Status.DesiredHostConfigHash {
		upToDate = metav1.ConditionTrue
	}
	if r.hasPassed(request.NamespacedName) {
		return reconcile.Result{}, nil
	}
	before := machine.DeepCopyObject().(*ScalewayAppleSiliconMachine)
	machine.Status.Conditions = append(machine.Status.Conditions, metav1.Condition{
		Type: passedCondition, Status: upToDate, Reason: "Passed", Message: host.Status.State,
		LastTransitionTime: metav1.Now(), ObservedGeneration: machine.Generation,
	})
	if err := r.Status().Patch(ctx, machine, client.MergeFrom(before)); err != nil {
		return reconcile.Result{}, err
	}
	r.pass(request.NamespacedName)
	return reconcile.Result{}, nil
}

func (r *reconciler) hasPassed(name types.NamespacedName) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.passed[name]
}

func (r *reconciler) pass(name types.NamespacedName) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.passed[name] = true
	if len(r.passed) == r.machines {
		fmt.Println("every machine passed")
	}
}

// Ignores heartbeats.
var nodeChanged = predicate.Funcs{
	UpdateFunc: func(change event.UpdateEvent) bool {
		before, after := change.ObjectOld.(*corev1.Node), change.ObjectNew.(*corev1.Node)
		return before.Annotations[hashAnnotation] != after.Annotations[hashAnnotation] ||
			before.Spec.ProviderID != after.Spec.ProviderID ||
			before.Spec.Unschedulable != after.Spec.Unschedulable ||
			readyOf(before) != readyOf(after)
	},
}

func readyOf(node *corev1.Node) corev1.ConditionStatus {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status
		}
	}
	return corev1.ConditionUnknown
}

func withoutManagedFields(object any) (any, error) {
	if meta, ok := object.(metav1.Object); ok {
		meta.SetManagedFields(nil)
	}
	return object, nil
}

// Keeps what the reconciler and the predicate read.
func trimNode(object any) (any, error) {
	node, ok := object.(*corev1.Node)
	if !ok {
		return object, nil
	}
	hash := node.Annotations[hashAnnotation]
	node.ManagedFields, node.Labels, node.Annotations = nil, nil, map[string]string{hashAnnotation: hash}
	node.Spec = corev1.NodeSpec{ProviderID: node.Spec.ProviderID, Unschedulable: node.Spec.Unschedulable}
	conditions := node.Status.Conditions
	node.Status = corev1.NodeStatus{}
	for _, condition := range conditions {
		if condition.Type == corev1.NodeReady {
			node.Status.Conditions = []corev1.NodeCondition{condition}
		}
	}
	return node, nil
}

func run() error {
	machines := flag.Int("machines", 0, "the number of machines")
	namespace := flag.String("namespace", "default", "the namespace of machines and Secrets")
	workers := flag.Int("workers", 12, "concurrent reconciles")
	flag.Parse()
	ctrl.SetLogger(zap.New(zap.WriteTo(os.Stderr)))

	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return err
	}
	addKinds(scheme)
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	config.QPS = -1
	config.UserAgent = "peer"

	pods := metadataOf("", "v1", "Pod")
	secrets := metadataOf("", "v1", "Secret")
	runners, err := labels.Parse("tuist.dev/runner")
	if err != nil {
		return err
	}
	kubeconfigs, err := labels.Parse("cluster.x-k8s.io/cluster-name")
	if err != nil {
		return err
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:  scheme,
		Metrics: server.Options{BindAddress: "0"},
		Cache: cache.Options{
			DefaultTransform: withoutManagedFields,
			ByObject: map[client.Object]cache.ByObject{
				&corev1.Node{}: {Transform: trimNode},
				pods:           {Label: runners},
				secrets:        {Label: kubeconfigs, Namespaces: map[string]cache.Config{*namespace: {}}},
				&certificatesv1.CertificateSigningRequest{}: {
					Field: fields.OneTermEqualSelector("spec.signerName", "kubernetes.io/kube-apiserver-client-kubelet"),
				},
			},
		},
	})
	if err != nil {
		return err
	}

	named := func(name string) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: *namespace, Name: name}}}
	}
	ofNode := handler.EnqueueRequestsFromMapFunc(func(_ context.Context, node client.Object) []reconcile.Request {
		return named(node.GetName())
	})
	ofHost := handler.EnqueueRequestsFromMapFunc(func(_ context.Context, object client.Object) []reconcile.Request {
		if ref := object.(*MacHost).Spec.ConsumerRef; ref != nil {
			return named(ref.Name)
		}
		return nil
	})
	nothing := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request { return nil })
	controlled := ctrl.NewControllerManagedBy(manager).
		For(&ScalewayAppleSiliconMachine{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&MacHost{}, ofHost).
		Watches(&corev1.Node{}, ofNode, builder.WithPredicates(nodeChanged)).
		Watches(&certificatesv1.CertificateSigningRequest{}, nothing).
		WithOptions(controller.Options{MaxConcurrentReconciles: *workers})
	for _, object := range []*metav1.PartialObjectMetadata{
		pods,
		secrets,
		metadataOf(infrastructure.Group, infrastructure.Version, "MacFleet"),
		metadataOf(infrastructure.Group, infrastructure.Version, "ScalewayAppleSiliconCluster"),
		metadataOf("controlplane.cluster.x-k8s.io", "v1alpha1", "ExternalControlPlane"),
		metadataOf(core, "v1beta2", "Cluster"),
		metadataOf(core, "v1beta2", "MachineDeployment"),
	} {
		controlled = controlled.WatchesMetadata(object, nothing)
	}
	r := &reconciler{Client: manager.GetClient(), machines: *machines, passed: map[types.NamespacedName]bool{}}
	if err := controlled.Complete(r); err != nil {
		return err
	}
	return manager.Start(ctrl.SetupSignalHandler())
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
