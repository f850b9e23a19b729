import { timestamp } from '@tartan/kube/clock';
import { type Judged, keep } from './judged.ts';
import { isSettled, type MachineFacts, takesPart } from './machine-facts.ts';
import type { Memory } from './memory.ts';
import type { Turn } from './turn.ts';

type PassedOver = Memory['passedOver'];

interface World {
  machines: readonly MachineFacts[];
  now: number;
}

export const wasPassedOver = ({ passedOver }: Pick<Memory, 'passedOver'>, uid: string): boolean =>
  passedOver.some((entry) => entry.uid === uid);

/** Who is new among them now, and who is well again or gone. */
export const passedOverOf = (judged: readonly Judged[], { machines, now }: World, memory: Memory): PassedOver => {
  const added = judged
    .filter((each) => each.machine !== undefined && couldNotUseIt(each, now))
    .map(({ turn: { machine, uid } }) => ({ machine, uid, at: timestamp(now) }));
  return [...memory.passedOver.filter(({ uid }) => !added.some((entry) => entry.uid === uid)), ...added].filter(
    ({ uid }) => machines.some((machine) => machine.uid === uid && takesPart(machine) && !isSettled(machine)),
  );
};

const couldNotUseIt = (each: Judged, now: number): boolean =>
  each.verdict === 'passedOver' || (keep(each, now).length === 0 && each.machine?.ready === false);

/** With a turn, a machine that is well begins anew; one that is down stays marked, so that nothing it does stops the others. */
export const afterGrants = (passedOver: PassedOver, given: readonly Turn[], { machines, now }: World): PassedOver => {
  const isDown = (uid: string): boolean => machines.some((machine) => machine.uid === uid && !machine.ready);
  const others = passedOver.filter((entry) => !given.some(({ uid }) => uid === entry.uid));
  const down = given.filter(({ uid }) => isDown(uid)).map(({ machine, uid }) => ({ machine, uid, at: timestamp(now) }));
  return [...others, ...down].sort((a, b) => (a.machine < b.machine ? -1 : 1));
};
