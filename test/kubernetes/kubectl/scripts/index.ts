import type { KubectlScript } from '../script.ts';
import { applying, creatingAndReplacing } from './apply-and-create.ts';
import { certificates } from './certificates.ts';
import { customResources } from './custom-resources.ts';
import { deleting } from './delete.ts';
import { deployments } from './deployments.ts';
import { discovery } from './discovery.ts';
import { errors } from './errors.ts';
import { events } from './events.ts';
import { reading } from './get.ts';
import { nodesAndPods } from './nodes.ts';
import { changing } from './patch-and-label.ts';
import { rights } from './rbac.ts';
import { watching } from './watch.ts';

export const scripts: readonly KubectlScript[] = [
  discovery,
  reading,
  creatingAndReplacing,
  applying,
  changing,
  customResources,
  deleting,
  watching,
  events,
  nodesAndPods,
  deployments,
  certificates,
  rights,
  errors,
];
