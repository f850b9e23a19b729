import type { Chapter } from '../requirements.ts';

const autoLogin = 'packages/host/src/steps/auto-login.test.ts';
const hostCommands = 'packages/cli/src/host/commands.slow.test.ts';
const podDeletion = 'packages/tart-kubelet/src/agent/deletion.test.ts';
const vmEgress = 'packages/host/src/steps/vm-egress.test.ts';
const runnerPool = 'packages/runners/src/pool/controller.test.ts';

export const hostPreparation: Chapter = {
  letter: 'D',
  title: 'Host preparation, and Pods that end',
  rows: [
    {
      id: 'D1',
      title:
        '`/etc/pf.conf` ends with our marked block once, whatever stood there: older stanzas, duplicates, half blocks.',
      changes: [10875],
      tests: [
        {
          file: 'test/regressions/degraded-hosts.test.ts',
          title: 'such a Mac is bootstrapped: one block is left in its pf.conf, which loads, and the user is logged in',
        },
        { file: vmEgress, title: 'pf.conf' },
        { file: vmEgress, title: 'with a correct block is unchanged' },
        { file: vmEgress, title: 'a second run changes nothing, loads nothing and registers nothing' },
        { file: vmEgress, title: 'after any interruption is valid at boot, and a second run completes the step' },
      ],
    },
    {
      id: 'D2',
      title: 'An `/etc/kcpassword` that macOS has sealed fails the bootstrap, and the preparation by hand as well.',
      changes: [10875],
      tests: [
        {
          file: 'test/regressions/degraded-hosts.test.ts',
          title: 'a wrong password fails the bootstrap, as macOS seals kcpassword, and the machine reports the reason',
        },
        { file: autoLogin, title: 'a wrong password is written by macOS, which is fatal (INC-07)' },
        { file: autoLogin, title: 'a wrong password is detected also while somebody is logged in' },
        {
          file: hostCommands,
          title: 'detects a wrong password at the console on a host with passwordless sudo (INC-07)',
        },
      ],
    },
    {
      id: 'D3',
      title: 'loginwindow is restarted by `launchctl kickstart -k`, whether it is alive or dead.',
      changes: [10875],
      tests: [
        {
          file: 'test/regressions/degraded-hosts.test.ts',
          title: 'a session that ends later is restored before the next VM starts, also from a dead loginwindow',
        },
        { file: autoLogin, title: 'the right password starts a console session on a fresh Mac' },
        { file: autoLogin, title: 'a dead loginwindow is started (INC-08)' },
        { file: hostCommands, title: 'works where loginwindow is dead or must not be restarted by launchd (INC-08)' },
        {
          file: 'packages/tart-kubelet/src/vm-start/console-session.test.ts',
          title: 'restarts loginwindow at most once a minute',
        },
      ],
    },
    {
      id: 'D4',
      title:
        'A Pod that has ended and is deleted loses the finalizer `tart-kubelet.tuist.dev/vm-cleanup`: deletion comes first.',
      changes: [10875],
      tests: [
        {
          file: 'test/regressions/degraded-hosts.test.ts',
          title:
            'finished Pods are released by the agent: the original checked the phase first, and 504 Pods stayed Terminating',
        },
        { file: podDeletion, title: 'is not stuck Terminating after it has ended (INC-17)' },
        {
          file: 'packages/tart-kubelet/src/pods/decide.model.test.ts',
          title: 'deletion always removes the VM, the finalizer, the Pod and the record',
        },
        { file: 'packages/api/src/names.test.ts', title: 'names on the wire do not change' },
      ],
    },
    {
      id: 'D5',
      title: 'Pods that are stuck Terminating drain by themselves; of lost Macs, also by one documented command.',
      changes: [10875],
      tests: [
        {
          file: 'test/regressions/degraded-hosts.test.ts',
          title: 'Pods of a deleted Mac are removed by one command',
        },
        { file: podDeletion, title: 'is not stuck Terminating when its VM was deleted by hand (INC-402)' },
        {
          file: 'packages/provider/src/pods/controller.test.ts',
          title:
            'a deleted Pod of a deleted Node is released after the grace period, not before, and an event says why (INC-71)',
        },
        {
          file: 'packages/cli/src/pods/unstick.test.ts',
          title: 'releases 504 Pods of lost Macs in one run, and shows the progress (INC-17, INC-71)',
        },
        {
          file: 'test/kubernetes/pods-unstick.test.ts',
          title: 'removes Pods whose Node is deleted, with or without a grace period left',
        },
      ],
    },
    {
      id: 'D6',
      title: 'Finished runner Pods are deleted and counted; those that do not go show in a metric and a condition.',
      changes: [10875],
      tests: [
        { file: runnerPool, title: 'a finished Pod is recorded, deleted and replaced' },
        {
          file: 'packages/runners/src/pool/races.test.ts',
          title: '504 finished Pods stuck in deletion are skipped, reported, and removed once released',
        },
        {
          file: 'packages/runners/src/metrics/runner-metrics.test.ts',
          title: 'ages are those of the oldest Pod: without a VM on its Mac, and after its grace period',
        },
        {
          file: 'test/regressions/runner-jobs-finish.test.ts',
          title:
            'finished Pods that a stopped agent cannot delete are counted, reaped once, and deleted when the agent is back',
        },
      ],
    },
  ],
};
