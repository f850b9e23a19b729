import { existsSync, readFileSync } from 'node:fs';
import { describeArtifact, connect, openArtifact } from '@tartan/host';

/** The command line argument of the pushing process. */
export interface Task {
  readonly port: number;
  readonly user: string;
  readonly keyFile: string;
  readonly file: string;
  /** One for each stream, each on its own connection, as to so many hosts. */
  readonly commands: readonly string[];
}

const { port, user, keyFile, file, commands } = JSON.parse(process.argv[2] ?? '') as Task;
const privateKey = readFileSync(keyFile, 'utf8');
// Hashed once for all hosts, when the artifact is created.
const artifact = await describeArtifact(file, 'bench');

/** Of this process alone: on Linux, `maxRSS` starts with the value of the parent at the fork. */
const peakKilobytes = (): number => {
  const status = existsSync('/proc/self/status') ? readFileSync('/proc/self/status', 'utf8') : '';
  return Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? process.resourceUsage().maxRSS);
};

const push = async (command: string): Promise<void> => {
  const address = { host: '127.0.0.1', port, transport: 'public' as const };
  const outcome = await connect({ addresses: [address], user, privateKey });
  if (outcome.kind !== 'connected') throw new Error(JSON.stringify(outcome));
  const ended = await outcome.connection.run({ command, stdin: () => openArtifact(artifact), deadline: 600_000 });
  if (ended.kind !== 'done') throw new Error(JSON.stringify(ended));
  await outcome.connection.close();
};

const started = performance.now();
await Promise.all(commands.map(push));
const seconds = (performance.now() - started) / 1000;
process.stdout.write(`${JSON.stringify({ seconds, megabytes: (peakKilobytes() * 1024) / 1e6 })}\n`);
