import type { Random } from '@tartan/kube/clock';
import { secretText } from '../app/tokens.ts';
import type { GitHubFaults } from '../github.ts';
import type { History } from '../history.ts';
import { takeFault } from '../http/take-fault.ts';
import type { JobRecord } from '../jobs/job.ts';
import type { Timers } from '../timers.ts';
import type { RunnerRecord, Session } from './runner.ts';

const day = 24 * 3_600_000;
/** "Removing self-hosted runners": after 14 days without a connection, an ephemeral one after one, also if it never had any. */
const keptFor = ({ isEphemeral }: RunnerRecord): number => (isEphemeral ? day : 14 * day);
/** How long a runner that asks for nothing is still thought to be there. GitHub does not say; a minute or two is what people see. */
const believedFor = 60_000;
/** How long a question for work stays open without an answer: shorter, so that whoever asks again and again stays online. */
const patience = 50_000;

type NewRunner = Pick<RunnerRecord, 'name' | 'owner' | 'groupID' | 'labels' | 'isEphemeral' | 'workFolder'>;

/** Runners: which there are, and which of them are heard of. */
export interface Runners {
  all(): readonly RunnerRecord[];
  of(owner: string): readonly RunnerRecord[];
  withSecret(secret: string): RunnerRecord | undefined;
  withSession(id: string): RunnerRecord | undefined;
  register(runner: NewRunner, how: string): RunnerRecord;
  remove(runner: RunnerRecord, why: string): void;
  /** Nothing if it has a connection already (`actions/runner#1603`). */
  connect(runner: RunnerRecord, os: RunnerRecord['os']): Session | undefined;
  /** Something was heard of it. */
  hear(runner: RunnerRecord): void;
  /** Its question for work, open until there is some. */
  ask(runner: RunnerRecord, session: Session, signal: AbortSignal | undefined): Promise<JobRecord | 'nothing'>;
  disconnect(runner: RunnerRecord): void;
}

interface RunnersOptions {
  readonly timers: Timers;
  readonly random: Random;
  readonly faults: GitHubFaults;
  readonly history: History;
  /** One of them could take a job now. */
  readonly ready: () => void;
}

export const createRunners = ({ timers, random, faults, history, ready }: RunnersOptions): Runners => {
  const runners = new Map<number, RunnerRecord>();
  const sessions = new Map<string, RunnerRecord>();
  const removals = new Map<RunnerRecord, () => void>();
  const silences = new Map<RunnerRecord, () => void>();
  let lastID = 20;

  const callOff = (plan: Map<RunnerRecord, () => void>, runner: RunnerRecord): void => {
    plan.get(runner)?.();
    plan.delete(runner);
  };
  const removeLater = (runner: RunnerRecord): void => {
    callOff(removals, runner);
    removals.set(
      runner,
      timers.after(keptFor(runner), () => remove(runner, 'not connected for long')),
    );
  };
  const goOffline = (runner: RunnerRecord): void => {
    callOff(silences, runner);
    if (!runner.isOnline) return;
    runner.isOnline = false;
    history.note({ what: 'runner offline', runner: runner.name });
    removeLater(runner);
  };
  const goOnline = (runner: RunnerRecord): void => {
    if (runner.isOnline || !runner.isAdmitted || runner.isRemoved) return;
    runner.isOnline = true;
    callOff(removals, runner);
    history.note({ what: 'runner online', runner: runner.name });
  };
  const endSession = (runner: RunnerRecord): void => {
    const { session } = runner;
    if (session === undefined) return;
    sessions.delete(session.id);
    runner.session = undefined;
    session.tell?.('nothing');
  };
  const remove: Runners['remove'] = (runner, why) => {
    // One that still runs a job keeps what it reports with.
    if (runner.job === undefined) endSession(runner);
    if (runner.isRemoved) return;
    runner.isRemoved = true;
    runner.isOnline = false;
    callOff(removals, runner);
    callOff(silences, runner);
    runners.delete(runner.id);
    history.note({ what: 'runner removed', runner: runner.name, why });
  };
  const admit = (runner: RunnerRecord, session: Session): void => {
    if (runner.session !== session) return;
    runner.isAdmitted = true;
    goOnline(runner);
    ready();
  };
  const hear = (runner: RunnerRecord): void => {
    if (runner.isRemoved) return;
    callOff(silences, runner);
    goOnline(runner);
    silences.set(
      runner,
      timers.after(believedFor, () => goOffline(runner)),
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
        secret: secretText(random, 64),
        os: 'unknown',
        isOnline: false,
        isAdmitted: false,
        session: undefined,
        job: undefined,
        busySince: undefined,
        isRemoved: false,
      };
      runners.set(runner.id, runner);
      history.note({ what: 'runner registered', runner: runner.name, why: how });
      removeLater(runner);
      return runner;
    },
    remove,
    connect: (runner, os) => {
      if (runner.isOnline && runner.session !== undefined) return undefined;
      endSession(runner);
      const session: Session = { id: secretText(random, 40), tell: undefined };
      sessions.set(session.id, runner);
      runner.session = session;
      runner.os = os;
      const late = takeFault(faults.registrations, runner.name);
      runner.isAdmitted = late === undefined;
      if (typeof late === 'object') timers.after(late.after, () => admit(runner, session));
      hear(runner);
      return session;
    },
    hear,
    ask: (runner, session, signal) => {
      // It asks again: whoever asked before has gone without a word.
      session.tell?.('nothing');
      return new Promise((resolve) => {
        const tell = (what: JobRecord | 'nothing'): void => {
          takeBack();
          signal?.removeEventListener('abort', leave);
          if (session.tell === tell) session.tell = undefined;
          hear(runner);
          resolve(what);
        };
        const leave = (): void => tell('nothing');
        const takeBack = timers.after(patience, leave);
        session.tell = tell;
        signal?.addEventListener('abort', leave, { once: true });
        hear(runner);
        ready();
      });
    },
    disconnect: (runner) => {
      endSession(runner);
      goOffline(runner);
    },
  };
};
