import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { cataloguePath, dumpCatalogue, dumpRoles, rolesPath, testControlPlane } from '@tartan/tools-kubernetes';

test('the catalogue of built-in kinds equals that of the real API server', async (t) => {
  const controlPlane = await testControlPlane();
  t.after(() => controlPlane.stop());
  const dictated = await dumpCatalogue(controlPlane);
  const committed = readFileSync(cataloguePath, 'utf8');
  assert.ok(
    dictated === committed,
    `${cataloguePath} differs from the real API server: run "npm run generate -- --kubernetes" and review the difference`,
  );
});

test('the roles of a fresh server are those that the real API server creates', async (t) => {
  const controlPlane = await testControlPlane();
  t.after(() => controlPlane.stop());
  assert.equal(
    await dumpRoles(controlPlane),
    readFileSync(rolesPath, 'utf8'),
    `${rolesPath} differs from the real API server: run "npm run generate -- --kubernetes" and review the difference`,
  );
});
