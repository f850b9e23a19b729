import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { ensureBinaries } from './build.ts';
import { BuildError } from './build/go.ts';
import { startControlPlane } from './control-plane.ts';
import { stopAtExit } from './control-plane/stop-at-exit.ts';
import { backgroundTestArguments, binariesFor, sharesCluster, testArguments } from './test-arguments.ts';
import { shareControlPlane } from './test-cluster.ts';

const root = join(import.meta.dirname, '../../..');

/** Runs the test files with `env` added to this process's environment. Returns the exit code. `quietly`: prints their output at the end. */
const runTests = async (args: readonly string[], env: Record<string, string>, quietly = false): Promise<number> => {
  const inherited = { ...process.env };
  // Tests must not touch the cluster that a person works with.
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
