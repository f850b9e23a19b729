import type { Decision } from './decision.ts';
import type { MachineFacts, Snapshot } from './snapshot.ts';
import { waits } from './waits.ts';

/**
 * Making a Mac ready: retry, restart it once, give it back (I-37). Giving up is asked for first, so that restarts that fail do not hold
 * it up. Neither happens while Pods may run there: their agent has joined, and a wipe would end them (G-08).
 */
export const decideBootstrap = (snapshot: Snapshot, machine: MachineFacts): Decision => {
  const { now, host, fleetKey, idle, policy } = snapshot;
  const { memory } = machine;
  const attempts = memory.bootstrapAttempts ?? 0;
  const mayEscalate = idle !== false;
  const poolPrefix = (host.kind === 'present' ? host.poolPrefix : undefined) ?? machine.poolPrefix;

  if (reached(attempts, policy.giveUpAfter) && mayEscalate && poolPrefix !== undefined)
    return { kind: 'give back', reason: 'BootstrapExhausted', poolPrefix };
  if (reached(attempts, policy.rebootAfter) && mayEscalate && memory.bootstrapRebootIssued !== true)
    return { kind: 'reboot' };
  if (fleetKey.kind !== 'ready')
    return {
      kind: 'await key',
      message: fleetKey.kind === 'unavailable' ? fleetKey.message : 'The SSH key of the fleet is being made.',
    };
  const reboot = rebootLeftMs(snapshot);
  if (reboot > 0) return { kind: 'back off', forMs: Math.min(reboot, waits.others), because: 'reboot' };
  const rest = Math.max(snapshot.restMs, failureLeftMs(memory.lastBootstrapFailureTime, now));
  return rest > 0 ? { kind: 'back off', forMs: rest, because: 'failure' } : { kind: 'bootstrap' };
};

const reached = (attempts: number, limit: number | undefined): boolean => limit !== undefined && attempts >= limit;

/** A time that is none, or ahead of the clock, holds nobody up for longer than the pause itself. */
export const failureLeftMs = (failedAt: string | undefined, now: number): number => {
  const left = Date.parse(failedAt ?? '') + waits.afterFailure - now;
  return left > 0 ? Math.min(left, waits.afterFailure) : 0;
};

/** While the restart that we asked for is under way. A Mac that does not come back counts as unreachable after a while. */
const rebootLeftMs = ({ now, host }: Snapshot): number => {
  if (host.kind !== 'present' || host.rebootRequestedAt === undefined) return 0;
  const { rebootRequestedAt, rebootIssuedAt, serverStatus } = host;
  // Scaleway goes on to say `ready` for a moment after it was asked.
  const issued = rebootIssuedAt !== undefined && rebootIssuedAt >= rebootRequestedAt ? rebootIssuedAt : Infinity;
  const over = now - issued >= waits.afterFailure && serverStatus === 'ready';
  const left = rebootRequestedAt + waits.reboot - now;
  return over || !(left > 0) ? 0 : Math.min(left, waits.reboot);
};
