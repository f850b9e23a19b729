import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type Mac, startMac } from '@tartan/sim-mac';
import type { HostSecrets } from '../host-spec.ts';
import { hostSteps } from '../steps/index.ts';
import { kcpassword } from '../steps/preparation.ts';
import { macConnection } from '../testing/mac-connection.ts';
import { plantedSecrets, workingSpec } from '../testing/working-spec.ts';
import { stepsWith } from '../testing/step-results.ts';
import { convergeHost } from './converge-host.ts';
import type { HostEvent, HostOutcome } from './host-outcome.ts';

/** Every real step that gets a secret, on a Mac that records the arguments of every process. */
describe('a secret that was sent to a host', () => {
  let folder: string;
  let mac: Mac;
  let secrets: Required<HostSecrets>;
  let outcome: HostOutcome;
  const events: HostEvent[] = [];
  const steps = hostSteps.filter((step) => step.payload !== undefined);
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tartan-secrets-'));
    const user = { password: 'it\'s a "planted" pa$$word' };
    mac = await startMac({ folder: join(folder, 'mac'), traceArguments: true, user });
    secrets = plantedSecrets(mac.user.password);
    const spec = await workingSpec(join(folder, 'artifacts'));
    const report = (event: HostEvent): void => void events.push(event);
    outcome = await convergeHost(macConnection(mac), spec, secrets, { owner: 'test', idle: true, steps, report });
  });
  after(async () => {
    await mac.stop();
    rmSync(folder, { recursive: true });
  });

  /** In all forms in which a secret could appear. */
  const forms = (): { name: string; secret: string }[] => [
    ...Object.entries(secrets).flatMap(([name, secret]) => [
      { name, secret },
      { name, secret: Buffer.from(secret).toString('base64') },
      { name, secret: Buffer.from(secret).toString('hex') },
    ]),
    { name: 'userPassword', secret: kcpassword(secrets.userPassword).toString('base64') },
    { name: 'userPassword', secret: kcpassword(secrets.userPassword).toString('hex') },
    { name: 'joinKubeconfig', secret: 'planted.0123456789abcdef' },
  ];

  test('was used by every step that got one', () => {
    assert.ok(steps.length >= 5);
    assert.ok(outcome.kind === 'converged', JSON.stringify(outcome));
    assert.deepEqual(
      stepsWith('applied', events),
      steps.map((step) => step.name),
    );
  });

  test('is in no outcome and no event', () => {
    const said = JSON.stringify([outcome, events]);
    for (const { name, secret } of forms()) assert.ok(!said.includes(secret), name);
  });

  test('was in no argument of any process on the host', () => {
    const noted = mac.journal.entries.filter(({ what }) => what === 'argv').map(({ detail }) => detail);
    assert.ok(noted.length > 100, 'the Mac noted no arguments');
    const all = mac.journal.entries.map(({ what, detail }) => `${what} ${detail}`).join('\n');
    for (const { name, secret } of forms()) assert.ok(!all.includes(secret), name);
  });

  test('is in no file but its own', () => {
    const kubeconfig = realpathSync(mac.path('/etc/tart-kubelet/kubeconfig'));
    for (const file of readdirSync(mac.root, { recursive: true, withFileTypes: true, encoding: 'utf8' })) {
      if (!file.isFile()) continue;
      const path = realpathSync(join(file.parentPath, file.name));
      const text = readFileSync(path, 'latin1');
      for (const { name, secret } of forms()) {
        const belongs = name === 'joinKubeconfig' && path === kubeconfig;
        assert.ok(belongs || !text.includes(secret), `${name} in ${path}`);
      }
    }
  });
});
