import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { ensureBinaries } from './build.ts';
import { BuildError } from './build/go.ts';
import { startControlPlane } from './control-plane.ts';
import { stopAtExit } from './control-plane/stop-at-exit.ts';
import { backgroundTestArguments, binariesFor, chooseCluster, sharesCluster, testArguments } from './test-arguments.ts';
import { shareControlPlane, shareExistingCluster } from './test-cluster.ts';

const root = join(import.meta.dirname, '../../..');

/** Runs the test files with `env` on top of this process's own; answers with the exit code. `quietly`: what they print comes at the end. */
const runTests = async (args: readonly string[], env: Record<string, string>, quietly = false): Promise<number> => {
  const inherited = { ...process.env };
  // The cluster a person works with is not for tests to stumble upon.
  delete inherited['KUBECONFIG'];
  const tests = spawn(process.execPath, args, {
    cwd: root,
    stdio: ['inherit', quietly ? 'pipe' : 'inherit', 'inherit'],
    env: { ...inherited, ...env },
  });
  const printed: Buffer[] = [];
  tests.stdout?.on('data', (bytes: Buffer) => printed.push(bytes));
  const exited = new Promise<number>((resolve, reject) => {
    tests.once('error', reject);
    tests.once('close', (code) => resolve(code ?? 1));
  });
  const release = stopAtExit({
    stop: async () => {
      tests.kill('SIGTERM');
      await exited;
    },
    killNow: () => tests.kill('SIGKILL'),
  });
  const code = await exited;
  release();
  process.stdout.write(Buffer.concat(printed));
  return code;
};

const main = async (): Promise<number> => {
  const given = process.argv.slice(2);
  const args = testArguments(given);
  await ensureBinaries(binariesFor(given));
  if (!sharesCluster(given)) return await runTests(args, {});
  const choice = chooseCluster(process.env);
  if ('existing' in choice) {
    process.stderr.write(`the tests use the cluster ${choice.url} of ${choice.existing}\n`);
    return await runTests(args, shareExistingCluster(choice.existing));
  }
  if (choice.note !== undefined) process.stderr.write(`${choice.note}\n`);
  const controlPlane = await startControlPlane({ controllerManager: true, scheduler: true });
  const background = backgroundTestArguments(given);
  try {
    const codes = await Promise.all([
      runTests(args, shareControlPlane(controlPlane)),
      ...(background ? [runTests(background, {}, true)] : []),
    ]);
    return Math.max(...codes);
  } finally {
    await controlPlane.stop();
  }
};

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof BuildError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
