{{/* The fleets that are wanted, each by the word that its values begin with. */}}
{{- define "tartan.fleets" -}}
{{- $wanted := list -}}
{{- range $word := list "macos" "runners" "builders" -}}
{{- if (index $.Values (printf "%sFleet" $word)).enabled -}}
{{- $wanted = append $wanted $word -}}
{{- end -}}
{{- end -}}
{{- toJson $wanted -}}
{{- end }}

{{/* root, word. Of MachineDeployment, MachineHealthCheck, MachineDrainRule and MacFleet; also `spec.fleetName` of the machines. */}}
{{- define "tartan.fleet.name" -}}
{{- (index .root.Values (printf "%sFleet" .word)).name | default (printf "%s-%s-fleet" (include "tartan.fullname" .root) .word) -}}
{{- end }}

{{/* root, word. */}}
{{- define "tartan.fleet.pool" -}}
{{- (index .root.Values (printf "%sFleet" .word)).adoptPoolPrefix | default .root.Values.macosFleet.adoptPoolPrefix -}}
{{- end }}

{{/* root, word. What machines are made from. What is not said here is for the provider to say. */}}
{{- define "tartan.fleet.machineSpec" -}}
{{- $fleet := index .root.Values (printf "%sFleet" .word) -}}
fleetName: {{ include "tartan.fleet.name" . | quote }}
adoptPoolPrefix: {{ include "tartan.fleet.pool" . | quote }}
type: {{ $fleet.machine.type | quote }}
zone: {{ $fleet.machine.zone | quote }}
os: {{ $fleet.machine.os | quote }}
{{- range $field := list "hostCPU" "hostMemoryMB" "maxPods" }}
{{- with index $fleet.machine $field | int64 }}
{{ $field }}: {{ . }}
{{- end }}
{{- end }}
{{- with $fleet.kubeletVersion }}
kubeletVersion: {{ . | quote }}
{{- end }}
{{- if eq .word "builders" }}
ghActionsRunner:
  ghOrg: {{ $fleet.ghOrg | quote }}
  ghAppSecretName: {{ $fleet.ghAppSecretName | quote }}
  {{- with $fleet.ghRunnerLabels }}
  ghRunnerLabels: {{ . | quote }}
  {{- end }}
{{- end }}
{{- end }}

{{/* root, word, name, template. What core is asked for. */}}
{{- define "tartan.fleet.deploymentSpec" -}}
{{- $fleet := index .root.Values (printf "%sFleet" .word) -}}
{{- $cluster := include "tartan.cluster.name" .root -}}
{{- $ofMachines := dict "cluster.x-k8s.io/cluster-name" $cluster "tuist.dev/fleet" .name -}}
clusterName: {{ $cluster | quote }}
{{- if not (kindIs "invalid" $fleet.replicas) }}
replicas: {{ int64 $fleet.replicas }}
{{- end }}
selector:
  matchLabels:
    {{- toYaml $ofMachines | nindent 4 }}
rollout:
  strategy:
    type: {{ $fleet.machineRollout.type }}
    {{- if eq $fleet.machineRollout.type "RollingUpdate" }}
    rollingUpdate:
      maxSurge: {{ toJson $fleet.machineRollout.maxSurge }}
      maxUnavailable: {{ toJson $fleet.machineRollout.maxUnavailable }}
    {{- end }}
remediation:
  maxInFlight: {{ toJson $fleet.healthCheck.maxInFlight }}
template:
  metadata:
    labels:
      {{- toYaml $ofMachines | nindent 6 }}
  spec:
    clusterName: {{ $cluster | quote }}
    {{- with $fleet.kubeletVersion }}
    version: {{ . | quote }}
    {{- end }}
    bootstrap:
      # Nothing to hand over, and no such Secret: Macs are made ready over SSH. Core asks for a name.
      dataSecretName: none
    infrastructureRef:
      apiGroup: infrastructure.cluster.x-k8s.io
      kind: ScalewayAppleSiliconMachineTemplate
      name: {{ .template | quote }}
    deletion:
      nodeDrainTimeoutSeconds: {{ int64 $fleet.nodeDrainTimeoutSeconds }}
{{- end }}

{{/*
root, word. All objects of a fleet.

The template bears a hash of its content in its name, as core looks at the name alone; and it stays when the release moves on, since
machines that are there refer to it, and so would a release that is rolled back to.
*/}}
{{- define "tartan.fleet" -}}
{{- $fleet := index .root.Values (printf "%sFleet" .word) }}
{{- $name := include "tartan.fleet.name" . }}
{{- $cluster := include "tartan.cluster.name" .root }}
{{- $machineSpec := include "tartan.fleet.machineSpec" . | fromYaml }}
{{- $template := printf "%s-%s" $name (toJson $machineSpec | sha256sum | trunc 8) }}
{{- $deployment := include "tartan.fleet.deploymentSpec" (merge (dict "name" $name "template" $template) .) }}
{{- /* In one word, so that `helm --wait` does not hear of a fleet what was true of the MachineDeployment before. */}}
{{- $revision := sha256sum $deployment | trunc 12 }}
{{- $ofFleet := dict "tuist.dev/fleet" $name }}
{{- $part := dict "root" .root "name" $name "component" (printf "%s-fleet" .word) "labels" $ofFleet }}
apiVersion: infrastructure.cluster.x-k8s.io/v1alpha1
kind: ScalewayAppleSiliconMachineTemplate
metadata:
  {{- include "tartan.metadata" (merge (dict "name" $template "annotations" (dict "helm.sh/resource-policy" "keep")) $part) | nindent 2 }}
spec:
  template:
    spec:
      {{- toYaml $machineSpec | nindent 6 }}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineDeployment
metadata:
  {{- include "tartan.metadata" (merge (dict "annotations" (merge (dict "tuist.dev/machines-revision" $revision) $fleet.annotations)) $part) | nindent 2 }}
spec:
  {{- $deployment | nindent 2 }}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1alpha1
kind: MacFleet
metadata:
  {{- include "tartan.metadata" $part | nindent 2 }}
spec:
  maxUnavailable: {{ int64 $fleet.rollout.maxUnavailable }}
  paused: {{ $fleet.rollout.paused }}
  gateDeadlineSeconds: {{ int64 $fleet.rollout.gateDeadlineSeconds }}
  waitForMacs: {{ $fleet.waitForMacs }}
  releaseID: {{ include "tartan.releaseID" .root | quote }}
  machinesRevision: {{ $revision | quote }}
{{- if $fleet.healthCheck.enabled }}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineHealthCheck
metadata:
  {{- include "tartan.metadata" $part | nindent 2 }}
spec:
  clusterName: {{ $cluster | quote }}
  selector:
    matchLabels:
      {{- toYaml $ofFleet | nindent 6 }}
  checks:
    nodeStartupTimeoutSeconds: {{ int64 $fleet.healthCheck.nodeStartupTimeoutSeconds }}
    unhealthyNodeConditions:
      {{- range list "False" "Unknown" }}
      - type: Ready
        status: {{ . | quote }}
        timeoutSeconds: {{ int64 $fleet.healthCheck.unhealthyTimeoutSeconds }}
      {{- end }}
  remediation:
    triggerIf:
      unhealthyLessThanOrEqualTo: {{ toJson $fleet.healthCheck.maxUnhealthy }}
{{- end }}
{{- if $fleet.drain.enabled }}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineDrainRule
metadata:
  {{- include "tartan.metadata" $part | nindent 2 }}
spec:
  drain:
    behavior: WaitCompleted
  machines:
    - selector:
        matchLabels:
          {{- toYaml $ofFleet | nindent 10 }}
  pods:
    {{- toYaml $fleet.drain.pods | nindent 4 }}
{{- end }}
{{- end }}
