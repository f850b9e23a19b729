{{/* The enabled fleets, each by the prefix of its values. */}}
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

{{/* root, word. The spec of the machine template. The provider sets the defaults. */}}
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

{{/*
root, word, name, template. The spec of the MachineDeployment without replicas. Users and autoscalers set those; the provider does
when `spec.replicas` of the MacFleet changes.
*/}}
{{- define "tartan.fleet.deploymentSpec" -}}
{{- $fleet := index .root.Values (printf "%sFleet" .word) -}}
{{- $cluster := include "tartan.cluster.name" .root -}}
{{- $ofMachines := dict "cluster.x-k8s.io/cluster-name" $cluster "tuist.dev/fleet" .name -}}
clusterName: {{ $cluster | quote }}
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
      # Nothing to hand over, and no such Secret: Macs are bootstrapped over SSH. Cluster API requires a name.
      dataSecretName: none
    infrastructureRef:
      apiGroup: infrastructure.cluster.x-k8s.io
      kind: ScalewayAppleSiliconMachineTemplate
      name: {{ .template | quote }}
    deletion:
      nodeDrainTimeoutSeconds: {{ int64 $fleet.nodeDrainTimeoutSeconds }}
{{- end }}

{{/*
root, word, live: the existing MachineDeployment, if any. Annotations for a MachineDeployment that is applied without replicas.

Core's webhook sets replicas to 1 when they are missing at a write, also when an older chart had them and this one does not. With these
two annotations it takes the first for a new MachineDeployment, and keeps a number that lies between them
(cluster-api core/webhooks/admission/machinedeployment.go, calculateMachineDeploymentReplicas). So both are the current number. A
cluster-autoscaler reads them, too: the provider removes them again.
*/}}
{{- define "tartan.fleet.replicas" -}}
{{- $key := printf "%sFleet" .word -}}
{{- $fleet := index .root.Values $key -}}
{{- $least := "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size" -}}
{{- $most := "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size" -}}
{{- $annotations := dict -}}
{{- $live := dig "spec" "replicas" nil .live -}}
{{- $initial := dig "metadata" "annotations" "tuist.dev/initial-replicas" nil .live -}}
{{- if kindIs "invalid" $live -}}
{{- $initial = $fleet.replicas -}}
{{- end -}}
{{- if not (kindIs "invalid" $initial) -}}
{{- $_ := set $annotations "tuist.dev/initial-replicas" (toString (int64 $initial)) -}}
{{- end -}}
{{- if hasKey $fleet.annotations $least -}}
{{- $low := get $fleet.annotations $least -}}
{{- $high := get $fleet.annotations $most -}}
{{- if and (not (kindIs "invalid" $live)) (or (lt (int64 $live) (int64 $low)) (gt (int64 $live) (int64 $high))) -}}
{{- fail (printf "%s has %d machines, and its annotations for an autoscaler allow %s to %s: Cluster API could set it to the nearer one, which wipes Macs or claims more. Scale it into that range first, or change the annotations." $key (int64 $live) $low $high) -}}
{{- end -}}
{{- else -}}
{{- $number := ternary $fleet.replicas $live (kindIs "invalid" $live) -}}
{{- if kindIs "invalid" $number -}}
{{- fail (printf "%s.replicas is null, and no MachineDeployment was found whose number could be kept: Cluster API would make it 1. Set the number of Macs to begin with; it is applied only when it changes, so kubectl scale and autoscalers are free to set another. (helm template and --dry-run=client see no cluster and need a number, too.)" $key) -}}
{{- end -}}
{{- range $name := list $least $most "tuist.dev/held-replicas" -}}
{{- $_ := set $annotations $name (toString (int64 $number)) -}}
{{- end -}}
{{- end -}}
{{- toJson $annotations -}}
{{- end }}

{{/*
root, word. All objects of a fleet.

The name of the template contains a hash of its content, because core compares only the name. Upgrades keep old templates: existing
machines refer to them, and so would a rollback.
*/}}
{{- define "tartan.fleet" -}}
{{- $fleet := index .root.Values (printf "%sFleet" .word) }}
{{- $name := include "tartan.fleet.name" . }}
{{- $cluster := include "tartan.cluster.name" .root }}
{{- $machineSpec := include "tartan.fleet.machineSpec" . | fromYaml }}
{{- $template := printf "%s-%s" $name (toJson $machineSpec | sha256sum | trunc 8) }}
{{- $deployment := include "tartan.fleet.deploymentSpec" (merge (dict "name" $name "template" $template) .) }}
{{- /* A hash of the MachineDeployment, so that `helm --wait` does not accept the status of a fleet from before the upgrade. */}}
{{- $revision := sha256sum $deployment | trunc 12 }}
{{- $ofFleet := dict "tuist.dev/fleet" $name }}
{{- /* Empty at the first install, and where helm sees no cluster: helm template, Argo CD. */}}
{{- $live := lookup "cluster.x-k8s.io/v1beta2" "MachineDeployment" .root.Release.Namespace $name }}
{{- $liveFleet := lookup "infrastructure.cluster.x-k8s.io/v1alpha1" "MacFleet" .root.Release.Namespace $name }}
{{- $replicas := include "tartan.fleet.replicas" (merge (dict "live" $live) .) | fromJson }}
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
  {{- include "tartan.metadata" (merge (dict "annotations" (merge (dict "tuist.dev/machines-revision" $revision) $replicas $fleet.annotations)) $part) | nindent 2 }}
spec:
  {{- $deployment | nindent 2 }}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1alpha1
kind: MacFleet
metadata:
  {{- include "tartan.metadata" $part | nindent 2 }}
spec:
  maxUnavailable: {{ int64 $fleet.rollout.maxUnavailable }}
  {{- if not (kindIs "invalid" $fleet.replicas) }}
  replicas: {{ int64 $fleet.replicas }}
  {{- end }}
  {{- $personal := dig "spec" "paused" false $liveFleet }}
  {{- if and $personal (not $fleet.rollout.paused) (not (hasKey (dig "spec" dict $liveFleet) "pausedByRelease")) }}
  {{- /* A release that still rendered this field was paused by a person. Dropping the field would resume the rollout. */}}
  paused: true
  {{- else }}
  pausedByRelease: {{ $fleet.rollout.paused }}
  {{- end }}
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
