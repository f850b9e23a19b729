import { decideRelease } from './decide-release.ts';
import type { Decision } from './decision.ts';
import type { Seen, Snapshot } from './snapshot.ts';
import { quarantineLeftMs, stateOf } from './state.ts';

/**
 * What to do about one Mac now. At most one thing is done to its server in a pass; the next pass looks again. While it is paused nothing
 * is; what Scaleway was asked for before that is seen and remembered.
 */
export const decide = (snapshot: Snapshot): Decision => {
  const decision = decideUnpaused(snapshot);
  if (snapshot.pauses.length === 0 || harmless.has(decision.kind)) return decision;
  return { kind: 'report', againMs: snapshot.limits.reportMs };
};

const harmless: ReadonlySet<Decision['kind']> = new Set(['look', 'find holder', 'wipe begun', 'wipe done', 'report']);

const decideUnpaused = (snapshot: Snapshot): Decision => {
  const { spec, server, limits } = snapshot;
  switch (server.kind) {
    case 'unknown':
      // What has to be done can be done without the list of the zone.
      return hasWork(snapshot) ? { kind: 'look' } : { kind: 'report', againMs: limits.pollMs };
    case 'missing':
      return server.fresh ? decideGone(snapshot) : { kind: 'look' };
    case 'seen':
      if (spec.release) return decideRelease(snapshot, spec.release, server);
      if (spec.consumerRef) return decideHeld(snapshot, spec.consumerRef, server);
      return decideFree(snapshot);
  }
};

const hasWork = (snapshot: Snapshot): boolean => {
  const { spec, status } = snapshot;
  if (spec.release) return true;
  return spec.consumerRef !== undefined && (status.name !== spec.consumerRef.name || isRebootDue(snapshot));
};

/** A MacHost whose server is gone for sure goes too, unless somebody counts on it: who holds it has to learn what became of it. */
const decideGone = ({ spec, holder, limits }: Snapshot): Decision => {
  if (!spec.consumerRef || holder.kind === 'gone' || holder.kind === 'elsewhere') return { kind: 'forget' };
  return holder.kind === 'unseen' ? { kind: 'find holder' } : { kind: 'report', againMs: limits.reportMs };
};

const decideHeld = (
  snapshot: Snapshot,
  { name }: NonNullable<Snapshot['spec']['consumerRef']>,
  { server, fresh }: Seen,
): Decision => {
  const { holder, limits } = snapshot;
  switch (holder.kind) {
    case 'none':
    case 'unseen':
      return { kind: 'find holder' };
    case 'gone':
    case 'elsewhere':
      // Never released here: that is the sweep's, which asks once more before it does anything.
      return { kind: 'report', againMs: limits.reportMs };
    case 'unknown':
      return { kind: 'report', againMs: undefined };
    case 'alive':
      break;
  }
  if (server.name !== name) {
    if (!fresh) return { kind: 'look' };
    // It may have changed since it was chosen (G-12).
    if (server.status !== 'ready' || server.type !== holder.type) return { kind: 'report', againMs: limits.pollMs };
    return { kind: 'rename', to: name, why: 'held' };
  }
  if (isRebootDue(snapshot)) return fresh ? { kind: 'reboot' } : { kind: 'look' };
  return { kind: 'report', againMs: undefined };
};

const isRebootDue = ({ spec, status }: Snapshot): boolean =>
  spec.reboot !== undefined &&
  !(Date.parse(status.rebootIssuedAt ?? '') >= Date.parse(spec.reboot.requestedAt)) &&
  !Number.isNaN(Date.parse(spec.reboot.requestedAt));

const decideFree = (snapshot: Snapshot): Decision => {
  const { status, now, limits } = snapshot;
  switch (stateOf(snapshot)) {
    case 'quarantined':
      return { kind: 'report', againMs: Math.max(0, Math.min(quarantineLeftMs(status, now), longestWaitMs)) };
    case 'stranded':
      return { kind: 'report', againMs: limits.reportMs };
    case 'pool':
    case 'held':
    case 'releasing':
    case undefined:
      return { kind: 'report', againMs: undefined };
  }
};

/** Timers count to 2^31 ms; nothing is lost by a look in between. */
const longestWaitMs = 60 * 60_000;
