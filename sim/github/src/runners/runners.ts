import type { Random } from '@tartan/kube/clock';
import { randomText } from '../app/authentication.ts';
import type { EventLog } from '../deps.ts';
import { type GitHubFaults, takeFault } from '../github.ts';
import type { JobRecord } from '../jobs/jobs.ts';
import type { Timers } from '../timers.ts';
import type { RunnerRecord, Session } from './runner.ts';

const day = 24 * 3_600_000;
/** "Removing self-hosted runners": after 14 days without a connection, an ephemeral one after one day, even if it never connected. */
const retentionMs = ({ isEphemeral }: RunnerRecord): number => (isEphemeral ? day : 14 * day);
/** How long a runner without requests still counts as online. GitHub does not document it; users observe a minute or two. */
const onlineTimeoutMs = 60_000;
/** How long a request for work stays open: shorter, so that a runner that keeps asking stays online. */
const longPollMs = 50_000;

type NewRunner = Pick<RunnerRecord, 'name' | 'owner' | 'groupID' | 'labels' | 'isEphemeral' | 'workFolder'>;

/** All registered runners and their connections. */
export interface Runners {
  all(): readonly RunnerRecord[];
  of(owner: string): readonly RunnerRecord[];
  withSecret(secret: string): RunnerRecord | undefined;
  withSession(id: string): RunnerRecord | undefined;
  register(runner: NewRunner, how: string): RunnerRecord;
  remove(runner: RunnerRecord, why: string): void;
  /** Undefined if it already has a connection (`actions/runner#1603`). */
  connect(runner: RunnerRecord, os: RunnerRecord['os']): Session | undefined;
  /** Records that the runner is alive. */
  heartbeat(runner: RunnerRecord): void;
  /** Its request for work, open until there is some. */
  waitForJob(runner: RunnerRecord, session: Session, signal: AbortSignal | undefined): Promise<JobRecord | 'nothing'>;
  disconnect(runner: RunnerRecord): void;
}

interface RunnersOptions {
  readonly timers: Timers;
  readonly random: Random;
  readonly faults: GitHubFaults;
  readonly history: EventLog;
  /** Called when a runner can take a job. */
  readonly onReady: () => void;
}

export const createRunners = ({ timers, random, faults, history, onReady }: RunnersOptions): Runners => {
  const runners = new Map<number, RunnerRecord>();
  const sessions = new Map<string, RunnerRecord>();
  const removals = new Map<RunnerRecord, () => void>();
  const offlineTimers = new Map<RunnerRecord, () => void>();
  let lastID = 20;

  const cancelTimer = (plan: Map<RunnerRecord, () => void>, runner: RunnerRecord): void => {
    plan.get(runner)?.();
    plan.delete(runner);
  };
  const removeLater = (runner: RunnerRecord): void => {
    cancelTimer(removals, runner);
    removals.set(
      runner,
      timers.after(retentionMs(runner), () => remove(runner, 'not connected for long')),
    );
  };
  const goOffline = (runner: RunnerRecord): void => {
    cancelTimer(offlineTimers, runner);
    if (!runner.isOnline) return;
    runner.isOnline = false;
    history.record({ type: 'runner offline', runner: runner.name });
    removeLater(runner);
  };
  const goOnline = (runner: RunnerRecord): void => {
    if (runner.isOnline || !runner.isAdmitted || runner.isRemoved) return;
    runner.isOnline = true;
    cancelTimer(removals, runner);
    history.record({ type: 'runner online', runner: runner.name });
  };
  const endSession = (runner: RunnerRecord): void => {
    const { session } = runner;
    if (session === undefined) return;
    sessions.delete(session.id);
    runner.session = undefined;
    session.deliver?.('nothing');
  };
  const remove: Runners['remove'] = (runner, reason) => {
    // A runner with a job keeps its session for reports.
    if (runner.job === undefined) endSession(runner);
    if (runner.isRemoved) return;
    runner.isRemoved = true;
    runner.isOnline = false;
    cancelTimer(removals, runner);
    cancelTimer(offlineTimers, runner);
    runners.delete(runner.id);
    history.record({ type: 'runner removed', runner: runner.name, reason });
  };
  const admit = (runner: RunnerRecord, session: Session): void => {
    if (runner.session !== session) return;
    runner.isAdmitted = true;
    goOnline(runner);
    onReady();
  };
  const heartbeat = (runner: RunnerRecord): void => {
    if (runner.isRemoved) return;
    cancelTimer(offlineTimers, runner);
    goOnline(runner);
    offlineTimers.set(
      runner,
      timers.after(onlineTimeoutMs, () => goOffline(runner)),
    );
  };

  return {
    all: () => [...runners.values()],
    of: (owner) => [...runners.values()].filter((runner) => runner.owner === owner),
    withSecret: (secret) => [...runners.values()].find((runner) => runner.secret === secret),
    withSession: (id) => sessions.get(id),
    register: (wanted, how) => {
      lastID += 1;
      const runner: RunnerRecord = {
        ...wanted,
        id: lastID,
        secret: randomText(random, 64),
        os: 'unknown',
        isOnline: false,
        isAdmitted: false,
        session: undefined,
        job: undefined,
        busySince: undefined,
        isRemoved: false,
      };
      runners.set(runner.id, runner);
      history.record({ type: 'runner registered', runner: runner.name, reason: how });
      removeLater(runner);
      return runner;
    },
    remove,
    connect: (runner, os) => {
      if (runner.isOnline && runner.session !== undefined) return undefined;
      endSession(runner);
      const session: Session = { id: randomText(random, 40), deliver: undefined };
      sessions.set(session.id, runner);
      runner.session = session;
      runner.os = os;
      const late = takeFault(faults.registrations, runner.name);
      runner.isAdmitted = late === undefined;
      if (typeof late === 'object') timers.after(late.after, () => admit(runner, session));
      heartbeat(runner);
      return session;
    },
    heartbeat,
    waitForJob: (runner, session, signal) => {
      // A new request: the client of the previous one is gone.
      session.deliver?.('nothing');
      // The client of this one is gone already: a job would wait for a runner that does not exist.
      if (signal?.aborted) return Promise.resolve('nothing');
      return new Promise((resolve) => {
        const tell = (what: JobRecord | 'nothing'): void => {
          cancelTimeout();
          signal?.removeEventListener('abort', onTimeout);
          if (session.deliver === tell) session.deliver = undefined;
          heartbeat(runner);
          resolve(what);
        };
        const onTimeout = (): void => tell('nothing');
        const cancelTimeout = timers.after(longPollMs, onTimeout);
        session.deliver = tell;
        signal?.addEventListener('abort', onTimeout, { once: true });
        heartbeat(runner);
        onReady();
      });
    },
    disconnect: (runner) => {
      endSession(runner);
      goOffline(runner);
    },
  };
};
