import assert from 'node:assert/strict';
import { existsSync, lstatSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { Mac } from '@tartan/sim-mac';
import { shellCommand } from '../engine/compose-script.ts';
import { stepRun } from '../engine/execute-step.ts';
import type { HostSpec } from '../host-spec.ts';
import { cutEverywhere } from '../testing/crash-injection.ts';
import { exampleSpec } from '../testing/example-spec.ts';
import { type FreshMacs, freshMacs } from '../testing/fresh-macs.ts';
import { runStep } from '../testing/run-step.ts';
import { joinCredentials } from './agent.ts';

const kubeconfig = '/etc/tart-kubelet/kubeconfig';
const text = 'apiVersion: v1\nkind: Config\nusers: [{ name: m, user: { token: "a\'b$c.0123456789abcdef" } }]\n';

describe('join credentials', () => {
  let macs: FreshMacs;
  let mac: Mac;
  let spec: HostSpec;
  const secrets = { joinKubeconfig: text };

  before(async () => {
    macs = freshMacs();
    mac = await macs.start();
    spec = exampleSpec(macs.folder);
  });
  beforeEach(() => rmSync(mac.path('/etc/tart-kubelet'), { recursive: true, force: true }));
  after(() => macs.stopAll());

  const content = (): string => readFileSync(mac.path(kubeconfig), 'utf8');
  const withVersion = (joinVersion: string): HostSpec => ({ ...spec, agent: { ...spec.agent, joinVersion } });
  const owner = async (path: string): Promise<string> =>
    (await mac.run(`stat -f '%Su:%Sg' "$TARTAN_ROOT${path}"`, { asRoot: true })).stdout.trim();

  test('are readable by the agent only', async () => {
    const first = await runStep(mac, joinCredentials, spec, { secrets });
    assert.equal(first.result, 'applied', first.stderr);
    assert.equal(content(), text);
    assert.equal(lstatSync(mac.path(kubeconfig)).mode & 0o777, 0o600);
    assert.equal(await owner(kubeconfig), 'm1:staff');
    assert.equal(await owner('/etc/tart-kubelet'), 'm1:staff', 'the agent replaces the file, so the folder is its own');
  });

  test('are not sent again once the agent has replaced them', async () => {
    await runStep(mac, joinCredentials, spec, { secrets });
    writeFileSync(mac.path(kubeconfig), 'of the agent');
    assert.equal((await runStep(mac, joinCredentials, spec)).result, 'unchanged');
    assert.equal(content(), 'of the agent');
  });

  test('are replaced when there are new ones, and kept when none were sent', async () => {
    await runStep(mac, joinCredentials, spec, { secrets });
    for (const none of [{}, { joinKubeconfig: '' }, { joinKubeconfig: ' \n' }]) {
      const failed = await runStep(mac, joinCredentials, withVersion('token-2'), { secrets: none });
      assert.equal(failed.code, 1);
      assert.match(failed.stderr, /needs the join credentials token-2, and none were sent: issue a join token/);
      assert.equal(content(), text);
    }
    const renewed = await runStep(mac, joinCredentials, withVersion('token-2'), {
      secrets: { joinKubeconfig: 'new\n' },
    });
    assert.equal(renewed.result, 'applied');
    assert.equal(content(), 'new\n');
  });

  test('that others could read are restricted again, with nothing sent', async () => {
    await runStep(mac, joinCredentials, spec, { secrets });
    await mac.run(`chmod 644 "$TARTAN_ROOT${kubeconfig}"`, { asRoot: true });
    const closed = await runStep(mac, joinCredentials, spec);
    assert.equal(closed.result, 'applied', closed.stderr);
    assert.equal(lstatSync(mac.path(kubeconfig)).mode & 0o777, 0o600);
    assert.equal(content(), text);
  });

  test('are sent again when the file is empty or missing', async () => {
    await runStep(mac, joinCredentials, spec, { secrets });
    for (const harm of [() => rmSync(mac.path(kubeconfig)), () => writeFileSync(mac.path(kubeconfig), '')]) {
      harm();
      assert.equal((await runStep(mac, joinCredentials, spec, { secrets })).result, 'applied');
      assert.equal(content(), text);
    }
  });

  test('that are truncated at any byte replace nothing', async () => {
    await runStep(mac, joinCredentials, spec, { secrets });
    const options = { verb: 'converge', hash: 'a hash', lockOwner: '', idle: true } as const;
    const { script, payload = '' } = stepRun(joinCredentials, withVersion('token-2'), secrets, options);
    // The last two cuts are after the credentials, before and within the end mark.
    for (const kept of [0, 1, text.length - 1, text.length, payload.length - 2]) {
      const { code, stderr } = await mac.run(shellCommand(script, { asRoot: true }), { stdin: payload.slice(0, kept) });
      assert.equal(code, 1, `${kept} bytes`);
      assert.match(stderr, /broke off before its end/);
      assert.equal(content(), text);
    }
  });

  test('are in no environment, argument or output', async () => {
    const { script } = stepRun(joinCredentials, spec, secrets, {
      verb: 'converge',
      hash: '',
      lockOwner: '',
      idle: true,
    });
    assert.doesNotMatch(script, /0123456789abcdef/);
    const { stdout, stderr } = await runStep(mac, joinCredentials, spec, { secrets });
    assert.doesNotMatch(stdout + stderr, /0123456789abcdef/);
  });

  test('are complete after any interruption', async () => {
    const cuts = await cutEverywhere(joinCredentials, {
      spec,
      secrets,
      prepare: async () => {
        rmSync(mac.path('/etc/tart-kubelet'), { recursive: true, force: true });
        return mac;
      },
      check: async () => {
        if (existsSync(mac.path(kubeconfig))) assert.equal(content(), text);
        const finished = await runStep(mac, joinCredentials, spec, { secrets });
        assert.equal(finished.code, 0, finished.stderr);
        assert.equal(content(), text);
      },
    });
    assert.ok(cuts > 5, `${cuts} cuts`);
  });

  test('are removed when they are not wanted, together with the certificate of the agent', async () => {
    await runStep(mac, joinCredentials, spec, { secrets });
    const off = { ...joinCredentials, intent: () => undefined };
    assert.equal((await runStep(mac, off, spec)).result, 'removed');
    assert.equal(existsSync(mac.path(kubeconfig)), false);
    assert.equal((await runStep(mac, off, spec)).result, 'unchanged');
    for (const name of ['node-certificate.pem', 'serving-certificate.pem']) {
      const certificate = mac.path(`/etc/tart-kubelet/${name}`);
      writeFileSync(certificate, 'of the agent');
      assert.equal((await runStep(mac, off, spec)).result, 'removed', name);
      assert.equal(existsSync(certificate), false);
    }
  });
});
