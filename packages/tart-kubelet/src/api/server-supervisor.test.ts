import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { TLSSocket } from 'node:tls';
import {
  certificateSigningRequests,
  type Client,
  createClient,
  createLogger,
  createSubresources,
  inProcessTransport,
} from '@tartan/kube';
import { type Clock, systemClock } from '@tartan/kube/clock';
import { eventually } from '@tartan/kube/testing';
import { createKubernetes, type Kubernetes } from '@tartan/sim-kubernetes';
import { createSelfSignedCertificate } from '../certificates/x509.ts';
import { readCertificate, writeCertificate } from '../identity/node-certificate.ts';
import { createServerSupervisor, type ServerSupervisor } from './server-supervisor.ts';
import { createFakeRuntime, type FakeRuntime } from './testing/fake-runtime.ts';

/** Shortens all waits, except the one for the approval. */
const shortTimersClock: Clock = {
  ...systemClock,
  after: (milliseconds, run) => systemClock.after(milliseconds > 60_000 ? milliseconds : 5, run),
};
/** macOS has one loopback address. */
const otherAddress = process.platform === 'linux' ? '127.0.0.2' : '0.0.0.0';
const approval = { type: 'Approved', reason: 'Test', message: 'fine' } as const;

describe('the kubelet API of a Mac', { timeout: 60_000 }, () => {
  let folder: string;
  let kubernetes: Kubernetes;
  let runtime: FakeRuntime;
  let environment: { address: string | undefined; ca: string | undefined; lines: string[]; ports: number[] };
  let stop: AbortController;
  let done: Promise<void>;
  let admin: Client;
  let polls = 0;
  let approve: (known: number) => Promise<void>;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'served-api-'));
    kubernetes = await createKubernetes();
    runtime = createFakeRuntime({ folder });
    environment = { address: '127.0.0.1', ca: kubernetes.identity.caCertificate, lines: [], ports: [] };
    stop = new AbortController();
    done = Promise.resolve();
    const transport = inProcessTransport(kubernetes.handle, {
      user: { commonName: 'admin', organizations: ['system:masters'] },
    });
    admin = createClient(transport, { clock: systemClock });
    approve = async (known) => {
      const waiting = await eventually('it asks for a certificate', async () => {
        const found = (await admin.list(certificateSigningRequests)).items;
        return found.length > known && found.find(({ status }) => status?.conditions === undefined);
      });
      await createSubresources(transport, { clock: systemClock }).approveCertificate(waiting, approval);
    };
  });
  afterEach(async () => {
    stop.abort();
    await done;
    await runtime.endLog();
    kubernetes.stop();
    rmSync(folder, { recursive: true });
  });

  const serve = (port = 0): ServerSupervisor => {
    const transport = inProcessTransport(kubernetes.handle, {
      user: { commonName: 'system:node:mac-1', organizations: ['system:nodes'] },
    });
    const api = createServerSupervisor({
      client: createClient(transport, { clock: systemClock }),
      transport,
      nodeName: 'mac-1',
      address: () => {
        polls += 1;
        return environment.address;
      },
      port,
      clientCA: () => environment.ca,
      runtime,
      file: join(folder, 'serving-certificate.pem'),
      clock: shortTimersClock,
      random: () => 0,
      log: createLogger({ clock: systemClock, level: 'info', write: (line) => environment.lines.push(line) }),
      metrics: async () => ({ contentType: 'text/plain', body: '' }),
      onListening: (bound) => environment.ports.push(bound),
      limits: { closingMs: 0 },
    });
    done = api.run(stop.signal);
    return api;
  };

  /** Waits until the agent has seen the current state and acted on it. */
  const looksAgain = async (): Promise<void> => {
    const before = polls;
    await eventually('it has polled twice', () => polls >= before + 2);
  };

  const listening = async (count: number): Promise<number> => {
    await eventually('it listens', () => environment.ports.length >= count);
    return environment.ports[count - 1] ?? 0;
  };

  /** The response to an anonymous request, and the issuer of the server's certificate. */
  const ask = async (port: number, host = '127.0.0.1') => {
    const outgoing = request({ host, port, path: '/pods', rejectUnauthorized: false, agent: false });
    outgoing.end();
    const [response] = await once(outgoing, 'response');
    response.resume();
    const { socket } = response;
    assert.ok(socket instanceof TLSSocket);
    return { code: response.statusCode, issuer: socket.getPeerX509Certificate()?.issuer };
  };

  test('serves with a self-signed certificate until the CSR is approved, then with the approved one', async () => {
    const api = serve();
    const port = await listening(1);
    assert.equal(api.port(), port);
    assert.deepEqual(await ask(port), { code: 401, issuer: 'O=system:nodes\nCN=system:node:mac-1' });
    assert.equal(api.validity(), undefined, 'nobody trusts one of its own making');
    await approve(0);
    await eventually('the approved one is served', async () => !(await ask(port)).issuer?.includes('system:node'));
    assert.ok((api.validity()?.notAfter ?? 0) > systemClock.now());
    assert.ok(await readCertificate(join(folder, 'serving-certificate.pem')));
    stop.abort();
    await done;
    assert.equal(api.port(), undefined);
    assert.equal(api.validity(), undefined);
  });

  test('uses the stored certificate after a restart', async () => {
    const kept = createSelfSignedCertificate({ nodeName: 'kept', address: '127.0.0.1' }, systemClock.now());
    await writeCertificate(join(folder, 'serving-certificate.pem'), kept);
    serve();
    const port = await listening(1);
    await eventually('the stored one is served', async () => (await ask(port)).issuer?.includes('system:node:kept'));
    assert.deepEqual((await admin.list(certificateSigningRequests)).items, []);
  });

  test('waits for the address of the Node, listens on it only, and follows a change (INC-421)', async () => {
    environment.address = undefined;
    serve();
    await looksAgain();
    assert.deepEqual(environment.ports, []);
    environment.address = '127.0.0.1';
    const first = await listening(1);
    await assert.rejects(ask(first, otherAddress));
    await approve(0);
    environment.address = undefined;
    await looksAgain();
    assert.equal((await ask(first)).code, 401);
    environment.address = otherAddress;
    const second = await listening(2);
    assert.equal((await ask(second, otherAddress)).code, 401);
    await assert.rejects(ask(first));
    await approve(1);
    await eventually(
      'the approved one is served',
      async () => !(await ask(second, otherAddress)).issuer?.includes('system:node'),
    );
  });

  test('logs a failure to listen and retries', async () => {
    const squatter = createServer().listen(0, '127.0.0.1');
    await once(squatter, 'listening');
    const address = squatter.address();
    assert.ok(typeof address === 'object' && address);
    const api = serve(address.port);
    await eventually('it says so', () => environment.lines.some((line) => line.includes('is not served')));
    assert.equal(api.port(), undefined);
    assert.deepEqual((await admin.list(certificateSigningRequests)).items, [], 'nor does it ask for a certificate');
    squatter.close();
    assert.equal(await listening(1), address.port);
  });

  test('does not listen without a client CA', async () => {
    environment.ca = undefined;
    serve();
    await eventually('it says so', () => environment.lines.some((line) => line.includes('certificate authority')));
    await looksAgain();
    assert.deepEqual(environment.ports, []);
    environment.ca = kubernetes.identity.caCertificate;
    await listening(1);
  });
});
