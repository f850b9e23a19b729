import type { Chapter } from '../requirements.ts';

const agentFlags = 'packages/tart-kubelet/src/flags/flags.test.ts';
const builder = 'packages/provider/src/machine/builder.test.ts';
const reclaimDisk = 'packages/host/src/steps/reclaim-disk.test.ts';
const builderAtWork = 'test/regressions/builder-lifecycle.test.ts';
const bake = 'packages/tart-kubelet/src/gc/bake.test.ts';
const collector = 'packages/tart-kubelet/src/gc/collector.test.ts';
const images = 'packages/tart-kubelet/src/images/image-manager.test.ts';

export const buildersAndCollection: Chapter = {
  letter: 'B',
  title: 'Builder nodes and garbage collection of virtual machines',
  rows: [
    {
      id: 'B1',
      title:
        'Every five minutes the agent deletes its virtual machines that no Pod of the Node backs, and stale images.',
      changes: [11072],
      tests: [
        {
          file: images,
          title: 'a clone is deleted when journal and marker say that it is ours and its Pod is gone (B1, B5)',
        },
        {
          file: 'packages/tart-kubelet/src/agent/garbage-collection.test.ts',
          title: 'does not delete a new clone whose Pod is not in the Pod list yet (INC-26)',
        },
        { file: collector, title: 'collects at start, and then every five minutes' },
        {
          file: collector,
          title:
            'deletes an image with its tags when no Pod and no golden base needs it; foreign images stay (B1, INC-48)',
        },
        {
          file: collector,
          title: 'keeps a VM that appears with its Pod between the two lists: Pods are listed last (B1)',
        },
      ],
    },
    {
      id: 'B2',
      title: 'What fails for lack of disk on the way to a running virtual machine frees space and is tried again.',
      changes: [11072],
      tests: [
        { file: images, title: 'a pull that finds the disk full collects garbage and retries once (B2)' },
        {
          file: 'packages/tart-kubelet/src/agent/slots.test.ts',
          title: 'collects garbage when a clone fails for lack of space, and retries the clone (B2)',
        },
        {
          file: collector,
          title: 'frees something after a lack of space even if the disk has free space, and no more than that (B2)',
        },
      ],
    },
    {
      id: 'B3',
      title:
        'With `--disable-vm-gc`, which is off by default, there is no collector, and lack of disk collects nothing.',
      changes: [11072],
      tests: [
        {
          file: 'test/regressions/image-push-and-vm-gc.test.ts',
          title: 'with --disable-vm-gc there is no collector, whatever time passes',
        },
        { file: images, title: 'with --disable-vm-gc there is no collector, and a full disk collects nothing (B3)' },
        { file: agentFlags, title: 'default to the host name of the Mac' },
        { file: agentFlags, title: 'accept everything that the host steps pass' },
      ],
    },
    {
      id: 'B4',
      title: 'The launchd job of the agent says `--disable-vm-gc` exactly while the machine has `ghActionsRunner`.',
      changes: [11072],
      tests: [
        {
          file: 'test/regressions/image-push-and-vm-gc.test.ts',
          title: 'builders get --disable-vm-gc at bootstrap and in every rollout; other Macs do not',
        },
        {
          file: 'packages/host/src/steps/agent-job.test.ts',
          title: 'keeps VMs of others exactly while the host is a builder (INC-46)',
        },
        {
          file: 'packages/provider/src/host-work/host-spec.test.ts',
          title: 'includes the runner of a builder',
        },
      ],
    },
    {
      id: 'B5',
      title: 'The collector deletes only what the agent itself has made, with or without the flag.',
      changes: [11072],
      tests: [
        {
          file: 'test/regressions/image-push-and-vm-gc.test.ts',
          title: 'a stopped VM of a builder is not collected either',
        },
        { file: bake, title: 'survives because the agent does not own it (B5)' },
        { file: images, title: 'a base that somebody else made under such a name is never collected (B5)' },
        {
          file: 'packages/tart-kubelet/src/gc/decide.test.ts',
          title: 'deletes only what the agent owns, nobody uses and no Pod needs; one golden base is kept',
        },
        {
          file: collector,
          title:
            'keeps a VM that is not known to be ours, also when only the check right before the delete says so (B5)',
        },
        { file: 'packages/tart-kubelet/src/gc/ownership.test.ts', title: 'unreadable: unknown' },
      ],
    },
    {
      id: 'B6',
      title: 'The collector never deletes a virtual machine that runs, or whose files a process has open.',
      changes: [11072],
      tests: [
        {
          file: 'test/regressions/image-push-and-vm-gc.test.ts',
          title: 'a push survives several garbage collections, which delete only the orphan of the agent',
        },
        { file: bake, title: 'survives a wrong journal because its files are open (B6)' },
        { file: bake, title: 'survives a wrong journal because a tart process uses it (B6)' },
        { file: collector, title: 'keeps a running VM that tart reports as stopped (INC-50)' },
        { file: collector, title: 'skips a VM that came into use between the decision and the delete' },
        {
          file: collector,
          title:
            'keeps a VM that is not known to be stopped, also when only the check right before the delete says so (B6)',
        },
        {
          file: collector,
          title: 'keeps a VM whose open files are unknown, also when only right before the delete (B6)',
        },
        {
          file: 'packages/tart-kubelet/src/gc/open-files.test.ts',
          title: 'unexpected output of lsof means unknown (B6)',
        },
        { file: 'packages/tart/src/decode.test.ts', title: 'never reads an unclear state as stopped' },
      ],
    },
    {
      id: 'B7',
      title: 'A builder is a Node with an idle agent, a GitHub Actions runner, and verified tools that bake images.',
      changes: [11072],
      tests: [
        {
          file: 'packages/host/src/steps/builder-tools.test.ts',
          title: 'installs the three tools on a fresh Mac, and a second run changes nothing',
        },
        {
          file: 'packages/host/src/steps/actions-runner.test.ts',
          title: 'registers and starts a runner in the console session, and a second run changes nothing',
        },
        {
          file: 'packages/host/src/artifacts/push-artifact.test.ts',
          title: 'a byte changed in transit is detected by the host',
        },
        {
          file: builder,
          title: 'requests a runner token only when the Mac needs one',
        },
        { file: builder, title: 'waits for the job of its runner, and reports it' },
        {
          file: reclaimDisk,
          title: 'deletes stopped VMs, keeps the named ones, and prints the result',
        },
        { file: reclaimDisk, title: 'deletes nothing when running VMs cannot be listed' },
        {
          file: builderAtWork,
          title: 'the Mac is bootstrapped, and its runner registers with its own token',
        },
        { file: builderAtWork, title: 'a bake frees space, builds, and pushes again after a failed push' },
        { file: builderAtWork, title: 'the builder is deleted after its job has ended, its runner first' },
      ],
    },
  ],
};
