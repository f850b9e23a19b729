package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Only the fields that the controller reads: the decoder drops all others.

var infrastructure = schema.GroupVersion{Group: "infrastructure.cluster.x-k8s.io", Version: "v1alpha1"}

type MachineSpec struct {
	FleetName  string `json:"fleetName,omitempty"`
	ProviderID string `json:"providerID,omitempty"`
}

type MachineStatus struct {
	ServerID              string             `json:"serverID,omitempty"`
	HostConfigHash        string             `json:"hostConfigHash,omitempty"`
	DesiredHostConfigHash string             `json:"desiredHostConfigHash,omitempty"`
	Conditions            []metav1.Condition `json:"conditions,omitempty"`
}

type ScalewayAppleSiliconMachine struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              MachineSpec   `json:"spec,omitempty"`
	Status            MachineStatus `json:"status,omitempty"`
}

func (in *ScalewayAppleSiliconMachine) DeepCopyObject() runtime.Object {
	out := *in
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Status.Conditions = append([]metav1.Condition(nil), in.Status.Conditions...)
	return &out
}

type ScalewayAppleSiliconMachineList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ScalewayAppleSiliconMachine `json:"items"`
}

func (in *ScalewayAppleSiliconMachineList) DeepCopyObject() runtime.Object {
	out := *in
	out.Items = make([]ScalewayAppleSiliconMachine, len(in.Items))
	for i := range in.Items {
		out.Items[i] = *in.Items[i].DeepCopyObject().(*ScalewayAppleSiliconMachine)
	}
	return &out
}

type ConsumerRef struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
	UID       string `json:"uid,omitempty"`
}

type MacHostSpec struct {
	Zone        string       `json:"zone,omitempty"`
	ConsumerRef *ConsumerRef `json:"consumerRef,omitempty"`
}

type MacHostStatus struct {
	State string `json:"state,omitempty"`
	Name  string `json:"name,omitempty"`
	IP    string `json:"ip,omitempty"`
}

type MacHost struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              MacHostSpec   `json:"spec,omitempty"`
	Status            MacHostStatus `json:"status,omitempty"`
}

func (in *MacHost) DeepCopyObject() runtime.Object {
	out := *in
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	if in.Spec.ConsumerRef != nil {
		ref := *in.Spec.ConsumerRef
		out.Spec.ConsumerRef = &ref
	}
	return &out
}

type MacHostList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []MacHost `json:"items"`
}

func (in *MacHostList) DeepCopyObject() runtime.Object {
	out := *in
	out.Items = make([]MacHost, len(in.Items))
	for i := range in.Items {
		out.Items[i] = *in.Items[i].DeepCopyObject().(*MacHost)
	}
	return &out
}

func addKinds(scheme *runtime.Scheme) {
	scheme.AddKnownTypes(infrastructure, &ScalewayAppleSiliconMachine{}, &ScalewayAppleSiliconMachineList{}, &MacHost{}, &MacHostList{})
	metav1.AddToGroupVersion(scheme, infrastructure)
}

// Kinds with a few objects, of which only changes matter.
func metadataOf(group, version, kind string) *metav1.PartialObjectMetadata {
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(schema.GroupVersionKind{Group: group, Version: version, Kind: kind})
	return object
}
