import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** Processes of a Mac, known by the root folder in their environment: also those that made a session of their own. */

const fromProc = (mark: string): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(mark);
      } catch {
        // Gone meanwhile, or somebody else's.
        return false;
      }
    })
    .map(Number);

/** Without /proc, as on macOS, `ps` shows the environment of one's own processes behind their command. */
const fromPs = (mark: string): number[] => {
  try {
    const lines = execFileSync('ps', ['-axEww', '-o', 'pid=,command='], {
      encoding: 'utf8',
      maxBuffer: 64 * 2 ** 20,
    }).split('\n');
    return lines.filter((line) => `${line} `.includes(` ${mark} `)).map((line) => Number.parseInt(line, 10));
  } catch {
    return [];
  }
};

const processesOf = (root: string): number[] => {
  const mark = `TARTAN_ROOT=${root}`;
  const found = existsSync('/proc/self/environ') ? fromProc(mark) : fromPs(mark);
  return found.filter((pid) => pid !== process.pid);
};

const rounds = 100;

/** Power off: ends whatever jobs left behind, until nobody is found. */
export const killSurvivors = async (root: string): Promise<void> => {
  for (let round = 0; round < rounds; round += 1) {
    const left = processesOf(root);
    if (left.length === 0) return;
    for (const pid of left) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // Gone meanwhile.
      }
    }
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
};
