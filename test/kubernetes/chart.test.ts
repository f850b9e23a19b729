import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { chart, helm } from './chart/helm.ts';
import { yamlIn } from './chart/pages.ts';
import { type ChartPlane, listOf, startChartPlane } from './chart/plane.ts';
import { namespace, ofKind, render } from './chart/render.ts';
import { allFleets, fleetKeys, valueSets, withoutCapi } from './chart/value-sets.ts';

describe('the chart', () => {
  for (const [name, values] of Object.entries({ ...valueSets, 'no Cluster API': withoutCapi }))
    test(`helm lint accepts it, with ${name}`, async () => {
      const { code, stdout, stderr } = await helm(['lint', '--strict', '--quiet', chart], values);
      assert.equal(code, 0, stderr);
      assert.doesNotMatch(`${stdout}${stderr}`, /WARNING|ERROR/);
    });

  test('without Cluster API it renders nothing', async () => {
    assert.deepEqual(await render(withoutCapi), []);
  });
});

describe('the chart on a real API server with Cluster API core', () => {
  let harness: ChartPlane;
  before(async () => {
    harness = await startChartPlane();
    // The namespace of fleetSpread's Deployment.
    await harness.done(['create', 'namespace', 'tuist']);
  });
  after(() => harness.stop());

  const tryOut = ['apply', '--server-side', '--dry-run=server', '--validate=strict', '-f', '-'];

  for (const [name, values] of Object.entries(valueSets))
    test(`the server accepts every object with strict validation, with ${name}`, async () => {
      const objects = await render(values);
      const said = await harness.done(tryOut, listOf(objects));
      assert.equal(said.trimEnd().split('\n').length, objects.length);
    });

  test('the RunnerPool of install.md is accepted, too, and listed as rpool', async () => {
    const pool = await yamlIn('install.md', 'kind', 'RunnerPool');
    await harness.done(['create', 'namespace', 'tartan']);
    assert.match(await harness.done(tryOut, listOf([pool])), /runnerpool\.tuist\.dev\/macos serverside-applied/);
    assert.equal(await harness.done(['-n', 'tartan', 'get', 'rpool', '-o', 'name']), '');
  });

  test('an unknown field is rejected, so that the test above is meaningful', async () => {
    const [fleet] = ofKind(await render(allFleets), 'MacFleet');
    const wrong = { ...fleet, spec: { ...fleet?.['spec'], wrong: 1 } };
    const { code, stderr } = await harness.kubectl(tryOut, listOf([wrong]));
    assert.equal(code, 1);
    assert.match(stderr, /wrong/);
  });

  const install = async (values: object): Promise<void> => {
    const args = ['upgrade', '--install', 'tartan', chart, '--no-hooks', '--skip-crds'];
    const { code, stderr } = await harness.helm(args, values);
    assert.equal(code, 0, stderr);
  };
  const names = async (kind: string): Promise<string[]> =>
    (await harness.done(['-n', namespace, 'get', kind, '-o', 'name'])).trim().split('\n').toSorted();
  const reference = 'jsonpath={.spec.template.spec.infrastructureRef.name}';
  const templateOf = (deployment: string): Promise<string> =>
    harness.done(['-n', namespace, 'get', 'machinedeployments.cluster.x-k8s.io', deployment, '-o', reference]);

  test('a template is kept by the next release, and found again by a rollback', async () => {
    const templates = 'scalewayapplesiliconmachinetemplates';
    const none = Object.fromEntries(fleetKeys.map((key) => [key, { ...(allFleets[key] as object), replicas: 0 }]));
    await install(none);
    const [before, first] = [await names(templates), await templateOf('tartan-runners-fleet')];
    assert.equal(before.length, 3);

    await install({ ...none, runnersFleet: { enabled: true, machine: { type: 'M4-M' } } });
    const [after, second] = [await names(templates), await templateOf('tartan-runners-fleet')];
    assert.notEqual(second, first);
    assert.equal(after.length, 4);
    for (const name of before) assert.ok(after.includes(name), `${name} is gone`);

    await install(none);
    assert.equal(await templateOf('tartan-runners-fleet'), first);
    assert.deepEqual(await names(templates), after);
  });
});
