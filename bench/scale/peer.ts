import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Builds the manager to compare with. Go keeps what it has downloaded and compiled. */
export const buildPeer = async (folder: string): Promise<string> => {
  const program = join(folder, 'peer');
  const env = { ...process.env, CGO_ENABLED: '0', GOWORK: 'off' };
  const args = ['build', '-mod=readonly', '-buildvcs=false', '-trimpath', '-o', program, '.'];
  await run('go', args, { cwd: join(import.meta.dirname, 'peer'), env });
  return program;
};
