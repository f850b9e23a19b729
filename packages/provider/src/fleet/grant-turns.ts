import { timestamp } from '@tartan/kube/clock';
import type { Snapshot } from './decide.ts';
import { isOutdated, isUnavailable, type MachineFacts, mayRetry } from './judge-turn.ts';
import type { RollRecord, Turn } from './turns.ts';

interface GrantContext extends Pick<Snapshot, 'machines' | 'revision' | 'now' | 'limits'> {
  /** Turns that continue. */
  readonly turns: readonly Turn[];
  readonly passedOver: RollRecord['passedOver'];
  /** A machine is Ready with this revision. */
  readonly proven: boolean;
  readonly maxUnavailable: number;
}

const passedAt = (uid: string, { passedOver }: Pick<GrantContext, 'passedOver'>): number | undefined => {
  const entry = passedOver.find((passed) => passed.uid === uid);
  return entry && Date.parse(entry.at);
};

/**
 * A machine that is down gets no turn, or the roll would wait for it (INC-12). Exception: it went down during its turn. It may have
 * received half of a push, and only another turn completes that.
 */
const isEligible = (machine: MachineFacts, grants: GrantContext): boolean => {
  const { now, limits } = grants;
  if (!isOutdated(machine) || machine.paused || !mayRetry(machine, now, limits)) return false;
  const passed = passedAt(machine.uid, grants);
  return passed === undefined ? machine.ready : now - passed >= limits.passAgainMs;
};

/** Healthy machines go first; those that refused or missed a turn go last, so that one bad Mac does not keep a fleet on old code. */
const byPriority = (grants: GrantContext): MachineFacts[] => {
  const rank = (machine: MachineFacts): number =>
    (machine.ready ? 0 : 4) +
    (machine.failed === machine.desired ? 2 : 0) +
    (machine.unreachableAt === undefined ? 0 : 1);
  return grants.machines
    .filter((machine) => isEligible(machine, grants))
    .sort(
      (a, b) =>
        rank(a) - rank(b) ||
        (passedAt(a.uid, grants) ?? 0) - (passedAt(b.uid, grants) ?? 0) ||
        // A refusal may be retried after a while, but still ranks lower.
        (a.lastFailure ?? 0) - (b.lastFailure ?? 0) ||
        (a.name < b.name ? -1 : 1),
    );
};

/**
 * New turns, up to the budget: `maxUnavailable` counts Macs that are down too. A Mac that is down already costs nothing more. The canary of a
 * revision goes alone, not even beside a turn of another revision.
 */
export const grantTurns = (grants: GrantContext): Turn[] => {
  const { machines, turns, proven, maxUnavailable } = grants;
  const most = proven ? maxUnavailable - turns.length : turns.length === 0 ? 1 : 0;
  const unavailable = new Set([...turns, ...machines.filter(isUnavailable)].map(({ uid }) => uid));
  const granted: Turn[] = [];
  for (const machine of candidatesFor(grants)) {
    if (granted.length >= most) break;
    if (!unavailable.has(machine.uid) && unavailable.size >= maxUnavailable) continue;
    unavailable.add(machine.uid);
    granted.push(newTurn(machine, grants));
  }
  return granted;
};

/** The machines that may get a turn, if the budget allows it, best first. */
export const candidatesFor = (grants: GrantContext): MachineFacts[] =>
  byPriority({ ...grants, machines: withoutTurns(grants.machines, grants.turns) });

/** Machines that went down in a turn for an outdated hash: they get a turn for the current one. */
export const renewTurns = (stranded: readonly Turn[], grants: GrantContext): Turn[] => {
  const { machines, turns, proven, now, limits } = grants;
  const room = proven ? stranded.length : turns.length > stranded.length ? 0 : 1;
  return stranded
    .flatMap(({ uid }) => machines.find((machine) => machine.uid === uid) ?? [])
    .filter((machine) => isOutdated(machine) && !machine.paused && mayRetry(machine, now, limits))
    .slice(0, room)
    .map((machine) => newTurn(machine, grants));
};

const withoutTurns = (machines: readonly MachineFacts[], turns: readonly Turn[]): readonly MachineFacts[] =>
  turns.length === 0 ? machines : machines.filter(({ name }) => !turns.some((turn) => turn.machine === name));

const newTurn = ({ name, uid, desired = '' }: MachineFacts, { revision, proven, now }: GrantContext): Turn => ({
  machine: name,
  uid,
  hash: desired,
  revision,
  canary: !proven,
  grantedAt: timestamp(now),
});
