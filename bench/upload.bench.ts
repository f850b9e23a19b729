import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, open, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { bundle } from '@tartan/tools-build';
import { type Figure, median } from './figure.ts';
import { agentRollBytes } from './upload/agent-roll.ts';
import type { Task } from './upload/ours.ts';
import { startPrivateSshd } from './upload/private-sshd.ts';

/**
 * Our SSH connection against OpenSSH's client: the same sshd, the same file, the same remote command (`cat > file`), one connection per
 * stream, as to so many hosts. The time is from dialling to the exit status, login included; OpenSSH's client is one process per stream,
 * ours is one process for all, as it ships. `pushArtifact` is not compared: it streams the same bytes in the same way, and then waits for
 * the host's own hashing, which the peer does not do.
 */

const megabyte = 1024 * 1024;
const fileSize = 96 * megabyte;
/** Large enough to fill all buffers many times over. */
const slowSize = 24 * megabyte;
const rounds = 3;
const counts = [1, 4, 16] as const;
const least: Record<(typeof counts)[number], number> = { 1: 0.85, 4: 0.85, 16: 0.75 };
/** Bytes per second that a slow receiver reads. */
const slowRate = 20_000_000;

interface UploadFigures {
  readonly seconds: number;
  readonly megabytes: number;
}

/** A receiver that reads so many bytes a second. Each stream has its own. */
const slowReceiver = `
const { readSync } = require('node:fs');
const rate = Number(process.argv[2]);
const buffer = Buffer.alloc(65536);
const pause = new Int32Array(new SharedArrayBuffer(4));
for (;;) {
  let bytes = 0;
  try { bytes = readSync(0, buffer); } catch (error) { if (error.code === 'EAGAIN') continue; throw error; }
  if (bytes === 0) break;
  Atomics.wait(pause, 0, 0, (bytes / rate) * 1000);
}
`;

const succeeded = async (child: ReturnType<typeof spawn>, what: string): Promise<void> => {
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  if (code !== 0) throw new Error(`${what} ended with ${code ?? signal}`);
};

export const run = async (say: (line: string) => void): Promise<Figure[]> => {
  // In memory if possible: the transfer counts, not the disk.
  const folder = await mkdtemp(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'tartan-bench-'));
  const stops: (() => Promise<void>)[] = [() => rm(folder, { recursive: true, force: true })];
  try {
    const sshd = await startPrivateSshd(folder);
    stops.unshift(() => sshd.stop());
    const program = await bundle({ program: 'bench/upload/ours.ts', folder: join(folder, 'program'), name: 'ours' });
    const file = join(folder, 'artifact');
    await writeFile(file, randomBytes(fileSize));
    const slowFile = join(folder, 'slow-artifact');
    await writeFile(slowFile, randomBytes(slowSize));
    const receiver = join(folder, 'slow-receiver.cjs');
    await writeFile(receiver, slowReceiver);

    const target = (index: number): string => join(folder, `received-${index}`);
    const saves = (streams: number): string[] =>
      Array.from({ length: streams }, (_, index) => `cat > ${target(index)}`);
    const arrived = async (streams: number): Promise<void> => {
      for (let index = 0; index < streams; index++) {
        const { size } = await stat(target(index));
        if (size !== fileSize) throw new Error(`${size} bytes arrived`);
        await rm(target(index));
      }
    };

    const ours = async (commands: readonly string[], what = file): Promise<UploadFigures> => {
      const task: Task = { port: sshd.port, user: sshd.user, keyFile: sshd.keyFile, file: what, commands };
      const child = spawn(process.execPath, [program, JSON.stringify(task)], { stdio: ['ignore', 'pipe', 'inherit'] });
      const [output] = await Promise.all([text(child.stdout), succeeded(child, 'our process')]);
      return JSON.parse(output) as UploadFigures;
    };
    const openSsh = async (commands: readonly string[]): Promise<number> => {
      const options = [
        'StrictHostKeyChecking=no',
        'UserKnownHostsFile=/dev/null',
        'LogLevel=ERROR',
        'IdentitiesOnly=yes',
      ];
      const args = ['-F', 'none', '-p', String(sshd.port), '-l', sshd.user, '-i', sshd.keyFile, '-T'];
      const started = performance.now();
      await Promise.all(
        commands.map(async (command) => {
          const handle = await open(file);
          const stdio = [handle.fd, 'ignore', 'inherit'] as const;
          const child = spawn('ssh', [...args, ...options.flatMap((each) => ['-o', each]), '127.0.0.1', command], {
            stdio: [...stdio],
          });
          await succeeded(child, 'ssh');
          await handle.close();
        }),
      );
      return (performance.now() - started) / 1000;
    };

    const figures: Figure[] = [];
    const resident: Record<number, number> = {};
    for (const streams of counts) {
      const times = { ours: [] as number[], peer: [] as number[], megabytes: [] as number[] };
      for (let round = 0; round < rounds; round++) {
        times.peer.push(await openSsh(saves(streams)));
        await arrived(streams);
        const uploaded = await ours(saves(streams));
        await arrived(streams);
        times.ours.push(uploaded.seconds);
        times.megabytes.push(uploaded.megabytes);
      }
      const [own, others] = [median(times.ours), median(times.peer)];
      const rate = (seconds: number): string => `${((streams * fileSize) / 1e6 / seconds).toFixed(0)} MB/s`;
      resident[streams] = median(times.megabytes);
      say(
        `${streams} streams: OpenSSH ${others.toFixed(2)} s (${rate(others)}), ours ${own.toFixed(2)} s (${rate(own)}), ${resident[streams].toFixed(0)} MB resident`,
      );
      figures.push({
        what: `throughput of ${streams} uploads of 96 MB, against OpenSSH`,
        value: others / own,
        unit: 'ratio',
        goal: `>= ${least[streams]}`,
      });
    }

    /** Peak memory with receivers that read this many bytes a second each. */
    const slowed = async (streams: number, rate: number): Promise<number> => {
      const command = `'${process.execPath}' ${receiver} ${rate}`;
      const { megabytes, seconds } = await ours(
        Array.from({ length: streams }, () => command),
        slowFile,
      );
      say(
        `${streams} slow receivers, ${rate / 1e6} MB/s each: ${seconds.toFixed(1)} s, ${megabytes.toFixed(0)} MB resident`,
      );
      return megabytes;
    };
    const slowOne = await slowed(1, slowRate);
    const slowEach = await slowed(16, slowRate);
    const slowAll = await slowed(16, slowRate / 16);

    const growth = (one: number, sixteen: number): number => (sixteen - one) / 15;
    const memory = (what: string, one: number, sixteen: number): Figure[] => [
      { what: `peak memory for each further stream, ${what}`, value: growth(one, sixteen), unit: 'MB', goal: '<= 4' },
      { what: `peak memory with 16 streams, ${what}`, value: sixteen, unit: 'MB', goal: '< 180' },
    ];
    const roll = (await agentRollBytes(folder)) / 1e6;
    say(`an agent-only roll sends ${roll.toFixed(2)} MB`);
    return [
      ...figures,
      ...memory('receivers at full speed', resident[1] ?? Number.NaN, resident[16] ?? Number.NaN),
      ...memory('receivers at 20 MB/s each', slowOne, slowEach),
      ...memory('receivers at 20 MB/s in all', slowOne, slowAll),
      { what: 'sent by an agent-only roll to a host that has the runtime', value: roll, unit: 'MB', goal: '<= 0.5' },
    ];
  } finally {
    for (const stop of stops) await stop();
  }
};
