import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { agentPage } from './agent-page.ts';
import { chartFiles } from './chart/chart-files.ts';
import { cliReference } from '@tartan/cli/page';
import { customResourceFiles } from './custom-resources.ts';
import { embeddedKubernetesPage } from './embedded-kubernetes-page.ts';
import { metricsPage } from './metrics-page.ts';
import { pinnedVersions } from './pinned-versions.ts';
import { providerFlagsPage } from './provider-flags-page.ts';
import { complaintsAbout } from './requirements/check.ts';
import { requirementsPage } from './requirements/page.ts';
import { requirements } from './requirements/requirements.ts';
import { resourcesPage } from './resources-page.ts';
import { rightsPage } from './rights-page.ts';
import { runnersFlagsPage } from './runners-flags-page.ts';
import { versionedFiles } from './versions.ts';

/**
 * `npm run generate`: writes every generated file from its one source. `--check` writes nothing and fails when one is not current.
 * `--kubernetes` also writes those that are read off a real API server, which it starts; whether those are current to the byte is
 * for `npm run test:kubernetes` to say, and here only that they belong to the pinned version.
 */

const root = join(import.meta.dirname, '../../..');

interface Generated {
  path: string;
  content(): string;
}

const files: Generated[] = [
  { path: 'docs/reference/cli.md', content: cliReference },
  { path: 'docs/reference/agent.md', content: agentPage },
  { path: 'docs/reference/embedded-kubernetes.md', content: embeddedKubernetesPage },
  { path: 'docs/reference/metrics.md', content: metricsPage },
  { path: 'docs/reference/provider-flags.md', content: providerFlagsPage },
  { path: 'docs/requirements.md', content: () => requirementsPage(requirements, readable) },
  { path: 'docs/reference/resources.md', content: resourcesPage },
  { path: 'docs/reference/rights.md', content: rightsPage },
  { path: 'docs/reference/runners-flags.md', content: runnersFlagsPage },
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
  ...complaintsAbout(requirements, readable),
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
  const complaints = check();
  for (const complaint of complaints) process.stdout.write(`${complaint}\n`);
  process.exitCode = complaints.length === 0 ? 0 : 1;
} else {
  if (process.argv.includes('--kubernetes')) {
    const { readRealServer } = await import('./real-server.ts');
    await readRealServer((line) => process.stdout.write(`${line}\n`));
  }
  write();
}
