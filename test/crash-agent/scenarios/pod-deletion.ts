import { pods } from '@tartan/kube';
import { eventually } from '@tartan/kube/testing';
import { booted, deletePods, expectNothingLeft, runs } from '../expectations.ts';
import { namespace } from '../harness.ts';
import type { Scenario } from '../run-scenario.ts';

export const deletion: Scenario = {
  key: 'delete',
  name: 'a running Pod is deleted, and its guest has time to shut down',
  run: async (harness, fault) => {
    // Longer than any other event that could wake an agent.
    harness.tart.controls.guest('_', { shutdownTakesMs: 600 });
    harness.agents.start(fault);
    // Long enough that it never elapses.
    const pod = await harness.pod('runner-1', (spec) => {
      spec.terminationGracePeriodSeconds = 600;
    });
    const ran = await runs(harness, pod, fault);
    await deletePods(harness, pod);
    booted(harness, pod, ran ? 1 : 0);
  },
};

export const unresponsiveGuest: Scenario = {
  key: 'unresponsive',
  name: 'a Pod is deleted whose guest ignores the shutdown: its VM is stopped by force',
  run: async (harness, fault) => {
    harness.tart.controls.guest('_', { shutdown: 'ignored' });
    harness.agents.start(fault);
    const pod = await harness.pod('runner-1');
    const ran = await runs(harness, pod, fault);
    await harness.delete(pod, 1);
    await deletePods(harness, pod);
    booted(harness, pod, ran ? 1 : 0);
  },
};

export const forcedDeletion: Scenario = {
  key: 'forced',
  name: 'the finalizer is removed by somebody else and the Pod is gone: its VM is deleted',
  run: async (harness, fault) => {
    harness.agents.start(fault);
    const pod = await harness.pod('runner-1');
    const ran = await runs(harness, pod, fault);
    harness.monitor.finalizerRemoved(pod.uid);
    await harness.delete(pod, 0);
    const { name } = pod;
    const body = { metadata: { finalizers: null } };
    await harness.admin.patch(pods, { namespace, name }, { type: 'merge', body }).catch(() => {});
    await eventually('it is gone', () => harness.seen(pod) === undefined);
    await expectNothingLeft(harness);
    booted(harness, pod, ran ? 1 : 0);
  },
};
