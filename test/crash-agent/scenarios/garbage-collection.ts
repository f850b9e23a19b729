import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '@tartan/kube/clock';
import { eventually } from '@tartan/kube/testing';
import { createImageRecords } from '../../../packages/tart-kubelet/src/images/image-records.ts';
import { goldenName } from '../../../packages/tart-kubelet/src/images/image-reference.ts';
import { createJournal } from '../../../packages/tart-kubelet/src/journal/journal.ts';
import { writeOwnershipMarker } from '../../../packages/tart-kubelet/src/journal/vm-identity.ts';
import { uidOf } from '../agent/effect-names.ts';
import { booted, deletePods, isRunning, runs } from '../expectations.ts';
import { digest, type Harness, image } from '../harness.ts';
import { foreignVms } from '../monitor.ts';
import type { Scenario } from '../run-scenario.ts';

const version = 1;
const agent = 'v0.0.0-test';
const orphan = { uid: uidOf(900), vm: `runners-runner-9-${uidOf(900)}` };
const stale = ['b', 'c'].map((letter) => ({
  repository: 'ghcr.io/example/macos',
  digest: `sha256:${letter.repeat(64)}`,
}));

/** Leftovers of an earlier agent, next to foreign ones. */
const prepareLeftovers = async ({ folder, tart }: Harness): Promise<void> => {
  const vmsFolder = join(tart.home, 'vms');
  for (const name of [...foreignVms, orphan.vm]) tart.addVm(name);
  await createJournal(join(folder, 'journal')).write({
    version,
    vm: orphan.vm,
    pod: { uid: orphan.uid, namespace: 'runners', name: 'runner-9' },
    image: { reference: image },
    createdAt: systemClock.now() - 60_000,
    run: 0,
    state: { kind: 'configured' },
  });
  await writeOwnershipMarker(join(vmsFolder, orphan.vm), { version, agent, podUID: orphan.uid, vm: orphan.vm });
  const records = createImageRecords({
    folder: join(folder, 'images'),
    mark: (vm, goldenOf) => writeOwnershipMarker(join(vmsFolder, vm), { version, agent, vm, goldenOf }),
  });
  for (const one of stale) {
    const name = goldenName(one);
    tart.addVm(name);
    await records.beginClone(name, one);
    await records.finishClone(name);
  }
};

const goldens = ({ tart }: Harness): readonly string[] =>
  readdirSync(join(tart.home, 'vms')).filter((name) => name.startsWith('tuist-golden-'));

export const garbageCollection: Scenario = {
  key: 'collect',
  name: 'an orphaned VM and old golden bases are deleted beside a running Pod, and foreign VMs are kept',
  collects: true,
  prepare: prepareLeftovers,
  run: async (harness, fault) => {
    harness.agents.start(fault);
    const pod = await harness.pod('runner-1');
    const ran = await runs(harness, pod, fault);
    await eventually('the orphan is collected', () => !harness.vms().includes(orphan.vm));
    const needed = goldenName({ repository: 'ghcr.io/example/macos', digest });
    // A day and a round; a restarted agent counts the day anew.
    await harness.advanceUntil('old bases are collected', 25 * 3600_000, () => goldens(harness).join() === needed);
    if (ran && !isRunning(harness, pod)) harness.problems.push('the Pod beside it runs no more');
    const deleted = harness.tart.journal.calls('delete').map(({ argv }) => argv[1]);
    if (deleted.includes(pod.vm)) harness.problems.push('the virtual machine of a live Pod was collected');
    await deletePods(harness, pod);
    booted(harness, pod, ran ? 1 : 0);
    for (const name of foreignVms)
      if (!harness.vms().includes(name)) harness.problems.push(`${name} is not there any more`);
    if (!goldens(harness).includes(needed)) harness.problems.push('the last base is not there any more');
  },
};
