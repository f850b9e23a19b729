import type { MacHost, ScalewayAppleSiliconMachine } from '@tartan/api';
import {
  again,
  type Controller,
  type ControllerOptions,
  createController,
  createWorkQueue,
  isKubeError,
  type nodes,
  NotLeadingError,
  type Outcome,
  type Reconcile,
  settled,
  type WatchCache,
} from '@tartan/kube';
import { ScalewayError } from '@tartan/scaleway';
import type { CoreCluster } from '../cluster/core-cluster.ts';
import { readPausesOfHost } from '../pause/read-pauses.ts';
import { act } from './act.ts';
import { decide } from './decide.ts';
import type { Decision } from './decision.ts';
import { type Limits, usualLimits } from './limits.ts';
import { findHolder, look, observe } from './observe.ts';
import { type Actor, type Pass, remember } from './pass.ts';
import { createRefusals, isInDoubt, type Refusals } from './refusals.ts';
import type { Release } from './snapshot.ts';
import { hostsOfClusters, hostsOfMachines, hostsOfNodes, hostsOfSightings, hostsThemselves } from './sources.ts';
import { refusedName, restMs } from './wipe.ts';

export interface MacHostOptions extends Omit<Actor, 'limits'> {
  readonly macHosts: WatchCache<MacHost>;
  readonly machines: WatchCache<ScalewayAppleSiliconMachine>;
  readonly nodes: WatchCache<NonNullable<(typeof nodes)['ofType']>>;
  readonly clusters: Pick<WatchCache<CoreCluster>, 'get' | 'list' | 'subscribe'>;
  readonly metrics?: ControllerOptions['metrics'];
  /** Macs at the same time. 4 unless told. */
  readonly workers?: number;
  readonly limits?: Partial<Limits>;
}

/** Somebody else has written the object: look at what it is now. */
const conflictPauseMs = 1000;
const backoff = { baseMs: 5000, maxMs: 5 * 60_000 };

/**
 * Makes of every Mac at Scaleway what its MacHost says: held under its holder's name, or wiped and back in a pool. The only one that
 * renames, reinstalls and restarts servers (architecture, decision 4).
 * Needs: get, list, watch, patch, delete of machosts, patch of machosts/status; get, list, watch of scalewayapplesiliconmachines
 * and of clusters; list, watch, patch, delete of nodes.
 */
export const createMacHostController = (options: MacHostOptions): Controller => {
  const { macHosts, clock, log, metrics, workers = 4 } = options;
  const actor: Actor = { ...options, limits: { ...usualLimits, ...options.limits } };
  const { pollMs } = actor.limits;
  const refusals = createRefusals(clock, pollMs);

  const reconcile: Reconcile = async (key, signal) => {
    const host = macHosts.get(key);
    if (!host || host.metadata.deletionTimestamp !== undefined) {
      refusals.forget(key);
      return settled;
    }
    try {
      return await lookAfter(actor, refusals, { host, snapshot: observe(actor, host), signal });
    } catch (error) {
      if (isKubeError(error, 'conflict')) return again(conflictPauseMs);
      if (isKubeError(error, 'notFound')) return settled;
      if (!(error instanceof NotLeadingError)) throw error;
      log.debug('Left to whoever leads', { key });
      return again(pollMs);
    }
  };

  return createController({
    name: 'mac-host',
    reconcile,
    sources: [
      hostsThemselves(options),
      hostsOfSightings(options),
      hostsOfMachines(options),
      hostsOfNodes(options),
      hostsOfClusters(options),
    ],
    clock,
    log,
    workers,
    queue: (observer) => createWorkQueue({ clock, backoff, ...(observer && { observer }) }),
    ...(metrics && { metrics }),
  });
};

/** Decides, looks closer where the decision asks for it, and decides again, until there is something to do. */
const lookAfter = async (actor: Actor, refusals: Refusals, first: Pass): Promise<Outcome> => {
  const { generation } = first.host.metadata;
  let pass = first;
  for (;;) {
    const { snapshot, signal } = pass;
    const { id, spec } = snapshot;
    const decision = await decideUnlessPaused(actor, pass);
    actor.log.debug('Looked at a Mac', { server: id, decision });
    const pauseMs = asksScaleway.has(decision.kind) ? refusals.leftMs(id, generation) : 0;
    if (pauseMs > 0) return again(pauseMs);
    try {
      if (decision.kind === 'look') {
        // Answers a view that is fresh, on which nobody asks to look.
        pass = { ...pass, snapshot: { ...snapshot, server: await look(actor, spec.zone, id, { signal }) } };
      } else if (decision.kind === 'find holder') {
        // Never `unseen`, the only one that is asked for again.
        const holder = await findHolder(actor, spec.consumerRef, id, { signal });
        pass = { ...pass, snapshot: { ...snapshot, holder } };
      } else {
        const outcome = await act(actor, pass, decision);
        refusals.forget(id);
        return outcome;
      }
    } catch (error) {
      if (!(error instanceof ScalewayError)) throw error;
      actor.log.warn('Scaleway did not do what a Mac needs', { server: id, decision: decision.kind, error });
      if (decision.kind === 'rename' && spec.release) return nameRefused(actor, pass, spec.release, decision.to, error);
      const afterMs = refusals.refused(id, generation, error);
      // What became of a restart has been written down where its attempt was.
      if (decision.kind === 'look' || decision.kind === 'rename')
        await remember(actor, pass, undefined, { during: decision.kind, message: error.message });
      return again(afterMs);
    }
  }
};

/** Written down, unless only the answer was lost. */
const nameRefused = async (
  actor: Actor,
  pass: Pass,
  release: Release,
  to: string,
  error: ScalewayError,
): Promise<Outcome> => {
  const { snapshot, signal } = pass;
  if (isInDoubt(error)) {
    const after = await look(actor, snapshot.spec.zone, snapshot.id, { signal }).catch(unlessRefused);
    if (after?.kind === 'seen' && after.server.name === to) return again(0);
  }
  const now = actor.clock.now();
  const status = refusedName({ ...snapshot, now }, release, error.message);
  await remember(actor, pass, status);
  return again(status.wipe ? restMs(status.wipe, now, actor.limits) : actor.limits.pollMs);
};

const unlessRefused = (error: unknown): undefined => {
  if (!(error instanceof ScalewayError)) throw error;
};

/** A watch of Clusters that is behind must not lead to attempts that are written down and taken back, over and over. */
const decideUnlessPaused = async (actor: Actor, { host, snapshot, signal }: Pass): Promise<Decision> => {
  const decision = decide(snapshot);
  if (!changesServer.has(decision.kind)) return decision;
  return decide({ ...snapshot, pauses: await readPausesOfHost(actor, host, { signal }) });
};

const changesServer: ReadonlySet<Decision['kind']> = new Set(['rename', 'reinstall', 'request wipe', 'reboot']);
const asksScaleway: ReadonlySet<Decision['kind']> = new Set(['look', 'rename', 'reinstall', 'reboot']);
