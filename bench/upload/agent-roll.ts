import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { describeArtifact, convergeHost, type HostSpec } from '@tartan/host';
import { fleetKey, plantedSecrets, connectToMac, workingSpec } from '@tartan/host/testing';
import { startMac } from '@tartan/sim-mac';

/** The size of a bundled agent. */
const releaseBytes = 300_000;

/** Bytes on the wire for a roll that only updates the agent of a host. */
export const agentRollBytes = async (folder: string): Promise<number> => {
  const { publicKey, privateKey } = fleetKey();
  const mac = await startMac({ folder: join(folder, 'mac'), pace: 0.01, authorizedKeys: [publicKey] });
  let sent = 0;
  const wire = createServer((socket) => {
    const sshd = connect(mac.address);
    socket.on('data', (chunk: Buffer) => {
      sent += chunk.length;
    });
    socket.on('error', () => {});
    sshd.on('error', () => {});
    socket.pipe(sshd).pipe(socket);
  });
  wire.listen(0, '127.0.0.1');
  await once(wire, 'listening');
  const { port } = wire.address() as AddressInfo;
  const push = async (spec: HostSpec): Promise<void> => {
    const connection = await connectToMac({ user: mac.user, address: { host: '127.0.0.1', port } }, privateKey);
    const secrets = plantedSecrets(mac.user.password);
    const outcome = await convergeHost(connection, spec, secrets, { owner: 'bench', idle: true });
    await connection.close();
    if (outcome.kind !== 'converged') throw new Error(`the push ended as ${JSON.stringify(outcome)}`);
  };
  try {
    const spec = await workingSpec(join(folder, 'software'));
    await push(spec);
    const file = join(folder, 'release.mjs');
    await writeFile(file, `setInterval(() => {}, 1e6);\n// ${randomBytes(releaseBytes / 2).toString('hex')}\n`);
    sent = 0;
    await push({ ...spec, agent: { ...spec.agent, release: await describeArtifact(file, 'the next agent') } });
    return sent;
  } finally {
    await mac.stop();
    wire.close();
  }
};
