import { readFileSync } from 'node:fs';
import type { Mac } from '@tartan/sim-mac';
import { convergeHost } from '../engine/converge-host.ts';
import type { HostSpec } from '../host-spec.ts';
import { connectToMac } from './connect-to-mac.ts';
import { plantedSecrets } from './working-spec.ts';

/** A process that converges a host and can be killed: prints each step that it begins. Its argument is a file with the `Job`. */
interface Job extends Pick<Mac, 'address' | 'user'> {
  readonly spec: HostSpec;
  readonly privateKey: string;
}

const job: Job = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'));
const connection = await connectToMac(job, job.privateKey);
const outcome = await convergeHost(connection, job.spec, plantedSecrets(job.user.password), {
  owner: 'pusher',
  idle: true,
  report: (event) => {
    if (event.kind === 'step started') process.stdout.write(`${event.step}\n`);
  },
});
await connection.close();
process.stdout.write(`${outcome.kind}\n`);
