import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { finalizers } from '@tartan/api';
import type { Kubernetes } from '@tartan/sim-kubernetes';
import type { FakeTart } from '@tartan/sim-mac';
import { vmNameOf } from '../../packages/tart-kubelet/src/journal/vm-identity.ts';
import type { Pod } from '../../packages/tart-kubelet/src/pods/snapshot.ts';

/** Sees every write to a Pod when the server accepts it, and every call of tart. */
export interface Monitor {
  /** Another client removes the finalizer of this Pod. */
  finalizerRemoved(uid: string): void;
  /** At the end of a scenario. */
  violations(): readonly string[];
}

/** Virtual machines that existed before the agent and do not belong to it. */
export const foreignVms = ['foreign', 'bake'] as const;

const isTerminal = (phase: string | undefined): boolean => phase === 'Succeeded' || phase === 'Failed';

type Seen = Pod & { metadata: { name: string; namespace: string; uid: string } };

export const createMonitor = ({ api }: Kubernetes, tart: FakeTart): Monitor => {
  const violations = new Set<string>();
  const finalizerRemoved = new Set<string>();
  const resource = api.find('', 'pods');
  if (resource === undefined) throw new Error('This server has no Pods');

  const hasOurs = (pod: Seen | undefined): boolean =>
    pod?.metadata?.finalizers?.includes(finalizers.vmCleanup) === true;
  const compare = (before: Seen, after: Seen | undefined): void => {
    const { name, uid } = before.metadata;
    const vm = vmNameOf(before.metadata) ?? '';
    if (hasOurs(before) && !hasOurs(after) && !finalizerRemoved.has(uid) && existsSync(join(tart.home, 'vms', vm)))
      violations.add(`${name} lost its finalizer while its virtual machine was there`);
    if (after === undefined) return;
    const [from, to] = [before.status?.phase, after.status?.phase];
    if (isTerminal(from) && from !== to) violations.add(`${name} went from ${from} to ${to}`);
    if (from === 'Running' && to === 'Pending') violations.add(`${name} went from Running to Pending`);
    const restarts = (pod: Seen): number => pod.status?.containerStatuses?.[0]?.restartCount ?? 0;
    if (restarts(after) < restarts(before)) violations.add(`${name} has fewer restarts than it had`);
  };
  api.subscribe(resource, ({ object, previous }) => {
    if (previous !== undefined) compare(previous as Seen, object as Seen | undefined);
  });

  /** One Pod has one virtual machine: its name ends with the UID. */
  const clonesOf = (): Map<string, Set<string>> => {
    const clones = new Map<string, Set<string>>();
    for (const { argv } of tart.journal.calls('clone')) {
      const name = argv[2] ?? '';
      const uid = name.slice(-36);
      if (!name.startsWith('tuist-golden-')) clones.set(uid, (clones.get(uid) ?? new Set()).add(name));
    }
    return clones;
  };
  return {
    finalizerRemoved: (uid) => void finalizerRemoved.add(uid),
    violations: () => {
      for (const [uid, names] of clonesOf())
        if (names.size > 1) violations.add(`${uid} has the virtual machines ${[...names].join(' and ')}`);
      for (const { argv, exitCode } of tart.journal.calls()) {
        const [command = '', name = ''] = argv;
        const isForeign = foreignVms.some((one) => one === name);
        if (isForeign && ['delete', 'exec', 'set', 'stop'].includes(command))
          violations.add(`tart ${command} was called for ${name}, which is somebody else's`);
        if (command === 'delete' && exitCode === 1)
          violations.add(`tart delete was called for ${name} while it was on`);
      }
      return [...violations];
    },
  };
};
