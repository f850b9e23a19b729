import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { ensureBinaries } from './build.ts';
import { BuildError } from './build/go.ts';
import { startControlPlane } from './control-plane.ts';
import { stopAtExit } from './control-plane/stop-at-exit.ts';
import { binariesFor, sharesCluster, testArguments } from './test-arguments.ts';
import { shareControlPlane } from './test-cluster.ts';

const root = join(import.meta.dirname, '../../..');

/** Runs the test files with `env` added to this process's environment. Returns the exit code. */
const runTests = async (args: readonly string[], env: Record<string, string>): Promise<number> => {
  const inherited = { ...process.env };
  // Tests must not touch the user's cluster.
  delete inherited['KUBECONFIG'];
  const tests = spawn(process.execPath, args, { cwd: root, stdio: 'inherit', env: { ...inherited, ...env } });
  const exited = new Promise<number>((resolve, reject) => {
    tests.once('error', reject);
    tests.once('exit', (code) => resolve(code ?? 1));
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
  return code;
};

const main = async (): Promise<number> => {
  const given = process.argv.slice(2);
  const args = testArguments(given);
  await ensureBinaries(binariesFor(given));
  if (!sharesCluster(given)) return await runTests(args, {});
  const controlPlane = await startControlPlane({ controllerManager: true, scheduler: true });
  try {
    return await runTests(args, shareControlPlane(controlPlane));
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
