import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { catalogue } from '@tartan/sim-kubernetes/catalogue';
import { chartFiles, customResourceFiles } from './chart/chart-files.ts';
import { agentPage } from './pages/agent.ts';
import { cliPage } from './pages/cli.ts';
import { embeddedKubernetesPage } from './pages/embedded-kubernetes.ts';
import { metricsPage } from './pages/metrics.ts';
import { providerFlagsPage } from './pages/provider-flags.ts';
import { resourcesPage } from './pages/resources.ts';
import { rightsPage } from './pages/rights.ts';
import { runnersFlagsPage } from './pages/runners-flags.ts';
import { requirementErrors } from './requirements/check.ts';
import { requirementsPage } from './requirements/page.ts';
import { requirements } from './requirements/requirements.ts';
import { versionedFiles } from './versions.ts';

/** Files that were generated from a real server must have the version that `tools/kubernetes` builds. */
const pinnedVersions = (root: string): string[] => {
  const goMod = readFileSync(join(root, 'tools/kubernetes/modules/kubernetes/go.mod'), 'utf8');
  const pinned = /^\s*(?:require )?k8s\.io\/kubernetes (v\S+)/m.exec(goMod)?.[1];
  if (pinned === catalogue.version) return [];
  return [
    `the built-in kinds were read off Kubernetes ${catalogue.version}, but ${pinned ?? 'no version'} is pinned: ` +
      'run "npm run generate -- --kubernetes"',
  ];
};

/**
 * `npm run generate`: writes every generated file from its source. `--check` writes nothing and fails when one is not current.
 * `--kubernetes` also writes the files that are read from a real API server, which it starts. For those, `--check` compares only the pinned
 * version; `npm run test:kubernetes` compares their content.
 */

const root = join(import.meta.dirname, '../../..');

const references = {
  agent: agentPage,
  cli: cliPage,
  'embedded-kubernetes': embeddedKubernetesPage,
  metrics: metricsPage,
  'provider-flags': providerFlagsPage,
  resources: resourcesPage,
  rights: rightsPage,
  'runners-flags': runnersFlagsPage,
};

const files = [
  ...Object.entries(references).map(([name, content]) => ({ path: `docs/reference/${name}.md`, content })),
  { path: 'docs/requirements.md', content: () => requirementsPage(requirements, readable) },
  ...customResourceFiles,
  ...chartFiles,
  ...versionedFiles(root),
];

const readable = (path: string): string | undefined => {
  try {
    return readFileSync(join(root, path), 'utf8');
  } catch {
    return undefined;
  }
};

const check = (): string[] => [
  ...files
    .filter(({ path, content }) => readable(path) !== content())
    .map(({ path }) => `${path} is not current: run "npm run generate"`),
  ...requirementErrors(requirements, readable),
  ...pinnedVersions(root),
];

const write = (): void => {
  for (const { path, content } of files) {
    const text = content();
    if (readable(path) === text) continue;
    writeFileSync(join(root, path), text);
    process.stdout.write(`wrote ${path}\n`);
  }
};

if (process.argv.includes('--check')) {
  const errors = check();
  for (const error of errors) process.stdout.write(`${error}\n`);
  process.exitCode = errors.length === 0 ? 0 : 1;
} else {
  if (process.argv.includes('--kubernetes')) {
    const { dumpRealServer } = await import('./real-server.ts');
    await dumpRealServer((line) => process.stdout.write(`${line}\n`));
  }
  write();
}
