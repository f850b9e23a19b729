import { customResourceFiles } from '../custom-resources.ts';
import { rightsFiles } from './rights-files.ts';
import { valuesPage } from './values/page.ts';
import { valuesSchema } from './values/schema-file.ts';
import { valuesYaml } from './values/yaml-file.ts';

/** What of the chart comes from elsewhere. */
export const chartFiles = [
  { path: 'docs/reference/values.md', content: valuesPage },
  { path: 'charts/tartan/values.yaml', content: valuesYaml },
  { path: 'charts/tartan/values.schema.json', content: valuesSchema },
  ...rightsFiles,
  // Helm takes them from here once, at the first installation.
  ...customResourceFiles.map(({ path, content }) => ({
    path: path.replace('packages/api/crds', 'charts/tartan/crds'),
    content,
  })),
];
