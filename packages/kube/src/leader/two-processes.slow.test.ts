import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { adminKubeconfig, createKubernetes, serve } from '@tartan/sim-kubernetes';
import type { GateCheck } from './testing/candidate-process.ts';

describe('two processes and one lease', () => {
  const program = fileURLToPath(new URL('./testing/candidate-process.ts', import.meta.url));

  /** A candidate and its gate checks so far. */
  interface Watched {
    process: ChildProcess;
    tries: GateCheck[];
    /** The first gate check, past or future, that matches. */
    seen(what: (attempt: GateCheck) => boolean): Promise<GateCheck>;
  }

  let kubeconfig: string;
  let cleanUp: (() => unknown)[] = [];

  beforeEach(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tartan-leader-'));
    cleanUp.push(() => rm(folder, { recursive: true }));
    const kubernetes = await createKubernetes();
    const served = await serve(kubernetes);
    cleanUp.push(
      () => served.close(),
      () => kubernetes.stop(),
    );
    kubeconfig = join(folder, 'kubeconfig');
    await writeFile(kubeconfig, await adminKubeconfig(kubernetes.identity, served.url), { mode: 0o600 });
  });

  afterEach(async () => {
    for (const step of cleanUp.toReversed()) await step();
    cleanUp = [];
  });

  const start = (name: string): Watched => {
    const child = fork(program, [kubeconfig, name], { execArgv: [] });
    const tries: GateCheck[] = [];
    const waiting = new Set<() => void>();
    child.on('message', (message) => {
      tries.push(message as GateCheck);
      for (const check of waiting) check();
    });
    cleanUp.push(async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    });
    const seen: Watched['seen'] = (what) =>
      new Promise((resolve) => {
        const check = (): void => {
          const found = tries.find(what);
          if (found === undefined) return;
          waiting.delete(check);
          resolve(found);
        };
        waiting.add(check);
        check();
      });
    return { process: child, tries, seen };
  };

  const passed = (attempt: GateCheck): boolean => attempt.passed;
  const now = (): bigint => process.hrtime.bigint();
  const since = (moment: bigint) => (attempt: GateCheck) => BigInt(attempt.at) > moment;

  /** Two candidates; the first to lead comes first. */
  const startTwo = (): Promise<[leader: Watched, follower: Watched]> => {
    const [a, b] = [start('a'), start('b')];
    return Promise.race([
      a.seen(passed).then((): [Watched, Watched] => [a, b]),
      b.seen(passed).then((): [Watched, Watched] => [b, a]),
    ]);
  };

  const limit = { timeout: 120_000 };

  test('when the leader is killed, the other process leads', limit, async () => {
    const [leader, follower] = await startTwo();
    leader.process.kill('SIGKILL');
    await once(leader.process, 'exit');
    const killed = now();
    const first = await follower.seen((attempt) => passed(attempt) && since(killed)(attempt));
    assert.ok(leader.tries.every(({ at }) => BigInt(at) < BigInt(first.at)));
  });

  test(
    'a leader that was frozen past its lease passes no gate in its old term, once the other leads',
    limit,
    async () => {
      const [leader, follower] = await startTwo();
      leader.process.kill('SIGSTOP');
      const frozen = now();
      const first = await follower.seen((attempt) => passed(attempt) && since(frozen)(attempt));
      const { term } = leader.tries.at(-1) ?? assert.fail('has not led');
      const thawed = now();
      leader.process.kill('SIGCONT');
      await leader.seen((attempt) => attempt.term <= term && !attempt.passed && since(thawed)(attempt));
      const late = leader.tries.filter(
        (attempt) => attempt.term <= term && passed(attempt) && since(BigInt(first.at))(attempt),
      );
      assert.deepEqual(late, []);
    },
  );
});
