import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { yamlIn } from './chart/pages.ts';
import { deploymentOf, ofKind, only, render } from './chart/render.ts';

describe('what the pages tell users to install', () => {
  test('the first fleet of install.md has the names of the page', async () => {
    const objects = await render(await yamlIn('install.md', 'provider'));
    assert.equal(only(objects, 'Cluster').metadata.name, 'tartan-capi');
    assert.equal(only(objects, 'MacFleet').metadata.name, 'tartan-macos-fleet');
    assert.equal(only(objects, 'MacFleet')['spec'].replicas, 0);
    assert.equal(only(objects, 'Deployment')['spec'].template.spec.containers[0].image, 'REGISTRY/tartan:VERSION');
  });

  test('the runners of install.md use the fleet that their pool names', async () => {
    const objects = await render(await yamlIn('install.md', 'runnersController'));
    deploymentOf(objects, 'runners-controller');
    const { fleetSelector }: { fleetSelector?: string } = Object(
      (await yamlIn('install.md', 'kind', 'RunnerPool'))['spec'],
    );
    assert.equal(only(objects, 'MacFleet').metadata.name, fleetSelector);
  });

  test('the builders of image-builder.md have runners with the label of their environment', async () => {
    const objects = await render(await yamlIn('image-builder.md', 'buildersFleet'));
    const [template] = ofKind(objects, 'ScalewayAppleSiliconMachineTemplate');
    assert.deepEqual(template?.['spec'].template.spec.ghActionsRunner, {
      ghOrg: 'ORGANISATION',
      ghAppSecretName: 'builders-github-app',
      ghRunnerLabels: 'self-hosted,macos,vm-image-builder,production',
    });
  });
});
