import { needsNewJoin, shouldRetireToken } from '../identity/join-decisions.ts';
import { decideDrift } from './decide-drift.ts';
import type { Decision } from './decision.ts';
import type { MachineFacts, Snapshot } from './snapshot.ts';
import { waits } from './waits.ts';

/**
 * A machine that was made ready once. Whatever happens to it now, its Mac is neither restarted nor given back: virtual machines may run
 * on it (G-08).
 */
export const decideLife = (snapshot: Snapshot, machine: MachineFacts): Decision =>
  retire(snapshot, machine) ??
  rollBack(snapshot, machine) ??
  register(snapshot, machine) ??
  decideDrift(snapshot, machine);

/** A token that has done its work, or can do none any more, is nobody's. */
const retire = ({ now, join }: Snapshot, { memory }: MachineFacts): Decision | undefined => {
  if (memory.joinTokenID === undefined) return undefined;
  const expired = !(now < Date.parse(memory.joinTokenExpires ?? ''));
  if (!expired && !shouldRetireToken(join.lease, join.identity)) return undefined;
  return { kind: 'retire token', certificateExpires: join.identity?.expiresAt };
};

/** Once: what was put back is remembered as refused, and the fleet sees that. */
const rollBack = ({ turn, fleetKey, restMs }: Snapshot, { memory }: MachineFacts): Decision | undefined => {
  if (turn?.rollBack !== true || memory.failedHostConfigHash === turn.hash) return undefined;
  if (fleetKey.kind !== 'ready') return { kind: 'rest', drift: 'no key', forMs: waits.others };
  return restMs > 0 ? { kind: 'rest', drift: 'pausing', forMs: restMs } : { kind: 'roll back', hash: turn.hash };
};

/** A Node that is gone, or an identity that nobody can renew any more: the agent is told to register, and nothing else is touched. */
const register = (snapshot: Snapshot, machine: MachineFacts): Decision | undefined => {
  const { node, fleetKey, restMs } = snapshot;
  if (node.kind === 'foreign' || (node.kind === 'ours' && node.ready === 'True')) return undefined;
  const newJoin = needsNewJoin(joinSnapshot(snapshot, machine));
  const missing = node.kind === 'missing';
  // It may be back in a moment.
  if (missing && node.forMs < waits.nodeMissing)
    return { kind: 'rest', drift: 'not reported', forMs: waits.nodeMissing - node.forMs };
  // A Node that is there has joined, and whether its Mac is up is another question; unless nobody can renew what it joined with.
  const shutOut = newJoin.kind === 'join' && (newJoin.why === 'CertificateExpired' || newJoin.why === 'TokenLost');
  if (!missing && !shutOut) return undefined;
  if (fleetKey.kind !== 'ready') return { kind: 'rest', drift: 'no key', forMs: waits.others };
  if (restMs > 0) return { kind: 'rest', drift: 'pausing', forMs: restMs };
  return {
    kind: 're-register',
    newJoin: newJoin.kind === 'join',
    because: missing
      ? 'The Node is gone.'
      : 'The certificate of the Mac has expired: it was off for too long to renew it.',
  };
};

const joinSnapshot = ({ now, join }: Snapshot, { memory }: MachineFacts): Parameters<typeof needsNewJoin>[0] => {
  const expires = Date.parse(memory.certificateExpires ?? '');
  const token =
    memory.joinTokenID === undefined
      ? undefined
      : {
          expiresAt: Date.parse(memory.joinTokenExpires ?? ''),
          delivered: memory.joinVersion === memory.joinTokenID,
        };
  return {
    now,
    token,
    nodeLease: join.lease,
    // Who renews a Lease after its certificate has ended has got another one since, of which we were not told.
    certificateExpiresAt: join.lease !== undefined && join.lease.renewedAt < expires ? expires : undefined,
    freshHost: false,
  };
};
