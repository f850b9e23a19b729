import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { type Mac, startMac } from '@tartan/sim-mac';
import type { HostSecrets, HostSpec, OnDemandSecret, OnDemandSecrets } from '../host-spec.ts';
import { exampleSpec } from '../testing/example-spec.ts';
import { fakeStep } from '../testing/fake-step.ts';
import { grantRoot } from '../testing/fresh-macs.ts';
import { macConnection } from '../testing/mac-connection.ts';
import { stepsWith } from '../testing/step-results.ts';
import { convergeHost, type ConvergeOptions } from './converge-host.ts';
import type { HostEvent, HostOutcome } from './host-outcome.ts';

const token = 'AABB-late-token';

/** Keeps its payload, and needs one only when it has none. */
const registers = fakeStep('registers', {
  optional: true,
  needsIdle: true,
  onDemandSecret: 'actionsRunnerToken',
  payload: (_, { actionsRunnerToken }) => actionsRunnerToken,
  script: `
file=$ROOT/var/registration
check() {
  [ "$(cat "$ROOT/var/name" 2>/dev/null || true)" = "$NODE_NAME" ] || differs 'it has another name'
  [ -e "$file" ] || { differs 'it is not registered' && printf 'needs%spayload\\n' "$TAB"; }
}
apply() {
  if [ ! -e "$file" ]; then
    [ "$HAS_PAYLOAD" = yes ] || fail 'there is no token'
    cat >"$file"
    [ ! -e "$ROOT/var/refuse" ] || { cat "$file" >&2 && rm "$file" && exit 1; }
  fi
  printf '%s\\n' "$NODE_NAME" >"$ROOT/var/name"
}
check_absent() { [ ! -e "$file" ] || differs 'it is registered'; }
remove() { rm -f "$file" "$ROOT/var/name"; }
`,
});

describe('an on-demand secret', () => {
  let folder: string;
  let mac: Mac;
  let spec: HostSpec;
  let asked: number;
  let answer: OnDemandSecret;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tartan-late-'));
    mac = await startMac({ folder: join(folder, 'mac') });
    grantRoot(mac);
    spec = exampleSpec(join(folder, 'artifacts'));
  });
  const clear = (): void => {
    asked = 0;
    answer = { kind: 'known', secret: token };
    for (const path of ['db/tartan', 'registration', 'name', 'refuse'])
      rmSync(mac.path(`/var/${path}`), { recursive: true, force: true });
  };
  before(clear);
  afterEach(clear);
  after(async () => {
    await mac.stop();
    rmSync(folder, { recursive: true });
  });

  const onDemandSecrets: OnDemandSecrets = {
    actionsRunnerToken: async () => {
      asked += 1;
      return answer;
    },
  };
  const events: HostEvent[] = [];
  const converge = (options: Partial<ConvergeOptions> & { spec?: HostSpec; secrets?: HostSecrets } = {}) => {
    events.length = 0;
    return convergeHost(macConnection(mac), options.spec ?? spec, options.secrets ?? {}, {
      owner: 'test',
      idle: true,
      steps: [registers],
      onDemandSecrets,
      report: (event) => events.push(event),
      ...options,
    });
  };
  const applied = (outcome: HostOutcome): readonly string[] => {
    assert.ok(outcome.kind === 'converged', JSON.stringify(outcome));
    assert.deepEqual(outcome.optionalFailures, []);
    return stepsWith('applied', events);
  };
  const registration = (): string => readFileSync(mac.path('/var/registration'), 'utf8');

  test('is requested by a step that declares it, once, and passed to that step', async () => {
    assert.deepEqual(applied(await converge()), ['registers']);
    assert.equal(registration(), token);
    assert.equal(asked, 1);
  });

  test('is not requested by a step that has it, has other changes, or only lacks its stamp', async () => {
    await converge();
    applied(await converge());
    applied(await converge({ mode: 'verify' }));
    assert.deepEqual(applied(await converge({ spec: { ...spec, nodeName: 'mac-8' } })), ['registers']);
    rmSync(mac.path('/var/db/tartan/steps/registers'));
    assert.deepEqual(applied(await converge({ spec: { ...spec, nodeName: 'mac-8' } })), []);
    assert.ok(existsSync(mac.path('/var/db/tartan/steps/registers')));
    assert.equal(asked, 1);
  });

  test('is not requested by a step that may not change anything now, nor when it was given', async () => {
    const outcome = await converge({ idle: false });
    assert.ok(outcome.kind === 'converged' && outcome.deferred.length === 1);
    applied(await converge({ secrets: { actionsRunnerToken: 'CCDD-given' } }));
    assert.equal(registration(), 'CCDD-given');
    assert.equal(asked, 0);
  });

  test('that is unavailable fails only its step, with the reason', async () => {
    answer = { kind: 'problem', message: 'GitHub does not answer. It is tried again.' };
    const outcome = await converge();
    assert.ok(outcome.kind === 'converged', JSON.stringify(outcome));
    const [error] = outcome.optionalFailures;
    assert.equal(error?.failure, 'no secret');
    assert.match(error.message, /GitHub does not answer/);
    assert.ok(!existsSync(mac.path('/var/registration')));
  });

  test('is redacted from every outcome, also when the host prints it', async () => {
    writeFileSync(mac.path('/var/refuse'), '');
    const outcome = await converge();
    assert.ok(outcome.kind === 'converged' && outcome.optionalFailures.length === 1);
    const said = JSON.stringify([
      outcome,
      events,
      outcome.optionalFailures.map(({ message, tail }) => [message, tail]),
    ]);
    assert.ok(!said.includes(token), said);
  });

  test('whose request is aborted ends the run', async () => {
    const ending = new AbortController();
    const outcome = await converge({
      signal: ending.signal,
      onDemandSecrets: {
        actionsRunnerToken: async (signal) => {
          ending.abort();
          signal?.throwIfAborted();
          return answer;
        },
      },
    });
    assert.equal(outcome.kind, 'aborted');
  });
});
