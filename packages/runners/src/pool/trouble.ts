import type { Problem, RunnerService } from '@tartan/github';

/** Why GitHub is not asked, and until when. The words are those of the condition GitHubReachable. */
interface Trouble {
  readonly reason: 'AppSecretInvalid' | Problem['reason'];
  /** What, why, and what to do. */
  readonly message: string;
  /** Milliseconds since the epoch: when it is worth another try. */
  readonly until: number;
}

/** What the last calls to GitHub came to. */
export interface GitHubHealth {
  /** The last trouble, also when its time is over: until something works, nothing is known to. */
  readonly trouble: Trouble | undefined;
  /** The trouble that lasts. */
  now(): Trouble | undefined;
  note(problem: Problem): void;
  /** A call has worked. `reading`: only looked, which says nothing about what the App may change. */
  worked(kind: 'reading' | 'writing'): void;
}

const firstPauseMs = 15_000;
const longestPauseMs = 2 * 60_000;
/** Somebody has to mend the App first. */
const deniedPauseMs = 60_000;

export const createGitHubHealth = (now: () => number): GitHubHealth => {
  let trouble: Trouble | undefined;
  let failures = 0;
  const pauseOf = ({ reason }: Problem): number =>
    reason === 'Denied' ? deniedPauseMs : Math.min(firstPauseMs * 2 ** (failures - 1), longestPauseMs);
  return {
    get trouble() {
      return trouble;
    },
    now: () => (trouble !== undefined && now() < trouble.until ? trouble : undefined),
    note: (problem) => {
      // Calls that were under way at the same time tell the same story once more.
      if (trouble === undefined || now() >= trouble.until) failures += 1;
      const { reason, message, retryAt } = problem;
      trouble = { reason, message, until: Math.max(retryAt ?? 0, now() + pauseOf(problem)) };
    },
    worked: (kind) => {
      if (kind === 'reading' && trouble?.reason === 'Denied') return;
      trouble = undefined;
      failures = 0;
    },
  };
};

/**
 * The service, which is not asked while there is trouble, and of which every answer is noted. What only looks (`watching`) has a smaller
 * share of GitHub's limits than what acts: that it is refused says nothing about whether runners can be made.
 */
export const watched = (service: RunnerService, health: GitHubHealth): RunnerService => {
  const through = async <Answer extends { readonly kind: string }>(
    kind: 'watching' | 'reading' | 'writing',
    call: () => Promise<Answer | Problem>,
  ): Promise<Answer | Problem> => {
    const lasting = health.now();
    if (lasting !== undefined && lasting.reason !== 'AppSecretInvalid')
      return { kind: 'problem', reason: lasting.reason, message: lasting.message, retryAt: lasting.until };
    const answer = await call();
    if (isProblem(answer)) {
      if (kind === 'writing' || (kind === 'reading' && answer.reason !== 'Denied')) health.note(answer);
    } else health.worked(kind === 'writing' ? 'writing' : 'reading');
    return answer;
  };
  return {
    mint: (registration, call) => through('writing', () => service.mint(registration, call)),
    remove: (id, call) => through('writing', () => service.remove(id, call)),
    get: (id, call) => through('reading', () => service.get(id, call)),
    find: (name, call) => through('reading', () => service.find(name, call)),
    list: (call) => through('watching', () => service.list(call)),
    queue: (labels, call) => through('watching', () => service.queue(labels, call)),
    newestRunner: (call) => through('watching', () => service.newestRunner(call)),
    registrationToken: (call) => through('writing', () => service.registrationToken(call)),
  };
};

const isProblem = (answer: { readonly kind: string }): answer is Problem => answer.kind === 'problem';
