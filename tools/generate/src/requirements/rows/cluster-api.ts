import type { Chapter } from '../requirements.ts';

const agentJob = 'packages/host/src/steps/agent-job.test.ts';
const controlPlane = 'packages/provider/src/control-plane/controller.test.ts';
const node = 'packages/tart-kubelet/src/node/controller.test.ts';
const nodeDecisions = 'packages/tart-kubelet/src/node/decide.test.ts';
const roll = 'packages/provider/src/machine/roll.test.ts';
const underClusterApi = 'test/system/cluster-api.test.ts';

export const clusterApi: Chapter = {
  letter: 'C',
  title: 'Cluster API',
  rows: [
    {
      id: 'C1',
      title:
        'Fleets are MachineDeployments whose Machines are bound to Nodes, become available, and let `helm --wait` pass.',
      changes: [10981],
      tests: [
        {
          file: 'test/regressions/machine-deployment-available.test.ts',
          title: 'every MachineDeployment is Available, as its Machine is bound to the Node with its providerID',
        },
        {
          file: underClusterApi,
          title: 'a machine cloned from a template claims a Mac, joins, and its Machine is bound to the Node',
        },
        {
          file: underClusterApi,
          title: 'a MachineDeployment scaled to zero releases and wipes the Mac, and its Node is deleted',
        },
        {
          file: 'packages/provider/src/fleet/controller.test.ts',
          title: 'machines without a MacFleet get one, whose kstatus is Current',
        },
        {
          file: 'test/kubernetes/acceptance/installed/install.ts',
          title: 'with Macs in the pool, helm upgrade --wait ends when all of them are Nodes bound to their Machines',
        },
        {
          file: 'test/kubernetes/acceptance/installed/upgrade.ts',
          title:
            'a fleet without enough Macs fails helm upgrade --wait with the missing machines, unless waitForMacs is false',
        },
        {
          file: 'test/kubernetes/acceptance/installed/upgrade.ts',
          title:
            'an agent that does not run is rejected by the first Mac: helm upgrade --wait fails with the reason, and all Macs keep running',
        },
      ],
    },
    {
      id: 'C2',
      title:
        'Core connects to its own cluster as the ServiceAccount `capi-remote`, with the rights that it needs and no more.',
      changes: [10981],
      tests: [
        {
          file: controlPlane,
          title:
            'Cluster API connects with the kubeconfig over HTTPS as the ServiceAccount, and has exactly the rights for a drain',
        },
        {
          file: underClusterApi,
          title: 'the control plane object provides the kubeconfig by which Machines are bound',
        },
      ],
    },
    {
      id: 'C3',
      title: 'The kubeconfig that core reads is minted and rotated by the provider, or synced by an ExternalSecret.',
      changes: [10981],
      tests: [
        {
          file: 'test/regressions/machine-deployment-available.test.ts',
          title: 'the provider writes the kubeconfig of Cluster API, and writes it again when somebody deletes it',
        },
        {
          file: controlPlane,
          title:
            'the control plane is Available and externally managed, and has a kubeconfig in the format of Cluster API',
        },
        {
          file: controlPlane,
          title:
            'nothing is written before the token is due, and the token is replaced after two thirds of its lifetime',
        },
        {
          file: controlPlane,
          title: 'a Secret of another controller is left alone and reported; after its deletion ours is created',
        },
        {
          file: controlPlane,
          title:
            'in mode Provided, the minted kubeconfig is kept until somebody writes the Secret, and is then disowned',
        },
        {
          file: 'packages/provider/src/control-plane/handover.property.test.ts',
          title:
            'after any sequence of mode switches, late writes and deletions, a reconcile leaves a working kubeconfig and never overwrites a provided one',
        },
        { file: 'test/kubernetes/chart-kubeconfig.test.ts', title: 'always exists, and works' },
        {
          file: 'test/kubernetes/chart-manager.test.ts',
          title: 'can come from a store, and outlives the hook that creates it (INC-307)',
        },
      ],
    },
    {
      id: 'C4',
      title:
        'The provider mints the credentials with which a Mac joins in its own cluster: short-lived, neither stored nor rotated.',
      changes: [10981],
      tests: [
        {
          file: 'packages/provider/src/host-work/join-credentials.test.ts',
          title: 'are a kubeconfig with a token of its own, recorded before it exists',
        },
        {
          file: 'packages/provider/src/identity/join-token.test.ts',
          title: 'is a bootstrap token Secret of Kubernetes that names its machine',
        },
        {
          file: 'packages/provider/src/identity/join-kubeconfig.test.ts',
          title: 'is that of the ConfigMap cluster-info without the flag, with our own certificate authority',
        },
        {
          file: 'packages/provider/src/identity/testing/join-suite.ts',
          title: 'the Mac exchanges the token for a client certificate of its Node, and uses it',
        },
      ],
    },
    {
      id: 'C5',
      title:
        'A job whose plist is the same to the byte is restarted in place, and registered anew only when it differs.',
      changes: [10981],
      tests: [
        {
          file: agentJob,
          title: 'gets new code by one restart, with no new registration and the same plist on the same inode (INC-09)',
        },
        {
          file: agentJob,
          title: 'gets new arguments by one registration, while launchd still removes the old job (INC-220)',
        },
      ],
    },
    {
      id: 'C6',
      title:
        'A reload counts once a new process has stayed; a restart without effect and a crash loop fail and are retried.',
      changes: [10981],
      tests: [
        {
          file: 'test/regressions/machine-deployment-available.test.ts',
          title: 'a restart that left the old process, and one with a crash loop, stop the roll with a reason',
        },
        { file: agentJob, title: 'is not updated when the restart left the old process (INC-09)' },
        {
          file: agentJob,
          title: 'counts as running only once it has stayed up, whatever launchd reports at the moment',
        },
        { file: agentJob, title: 'is started explicitly when launchd registers it without starting it' },
        { file: roll, title: 'is retried, then held for the cooldown, then retried, when the Mac rejects it' },
      ],
    },
    {
      id: 'C7',
      title: 'No executable is killed for a stale signature: what we upload is signed again or comes as another file.',
      changes: [10981],
      tests: [
        {
          file: 'test/regressions/machine-deployment-available.test.ts',
          title:
            'the agent is never overwritten in place: a rollout of the binary kills no process, and every Node is Ready',
        },
        { file: 'packages/host/src/steps/builder-tools.test.ts', title: 'signs every tool' },
        {
          file: 'packages/host/src/steps/tailscale.test.ts',
          title: 'signs both binaries, and makes the state readable by root only',
        },
        {
          file: 'packages/host/src/steps/node-exporter.test.ts',
          title: 'repairs an executable that the original system overwrote in place',
        },
        {
          file: agentJob,
          title: 'gets a new runtime while the old one runs: another inode, as the kernel requires (INC-10)',
        },
      ],
    },
    {
      id: 'C8',
      title:
        'Machine and Node have `scw-applesilicon://<zone>/<id>`, which first boot and roll pass as `--provider-id`.',
      changes: [10981],
      tests: [
        {
          file: 'test/system/life-of-a-machine.test.ts',
          title: 'two machines claim Macs from a pool of three and bootstrap them over SSH, and their Nodes are Ready',
        },
        { file: 'packages/api/src/provider-id.test.ts', title: 'consists of zone and server ID' },
        {
          file: 'packages/host/src/agent/incidents.test.ts',
          title: 'INC-38: first boot and roll pass the same provider ID',
        },
        { file: roll, title: 'waits for its turn, is rolled, and reports UpToDate' },
      ],
    },
    {
      id: 'C9',
      title:
        'The agent registers its Node with the provider id, fills in a missing one, and writes nothing else of the spec.',
      changes: [10981],
      tests: [
        {
          file: 'test/regressions/machine-deployment-available.test.ts',
          title: 'the agent sets the providerID of an existing Node without one',
        },
        {
          file: 'test/regressions/machine-deployment-available.test.ts',
          title: 'a Node with the providerID of another server keeps it, whatever --provider-id is',
        },
        {
          file: nodeDecisions,
          title: 'registers with labels, taint, provider ID, status and host config hash in one write',
        },
        { file: node, title: 'a provider id is filled in where there is none, and never overwritten (C9, INC-38)' },
        {
          file: nodeDecisions,
          title: 'converges in a few writes, each needed, and changes nothing in spec but a missing provider ID',
        },
        { file: node, title: 'an idle Mac writes its Lease, its status every five minutes, and nothing else' },
      ],
    },
  ],
};
