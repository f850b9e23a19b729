import type { Chapter } from '../script.ts';
import { certificates } from './certificates.ts';
import { changing } from './changing.ts';
import { customResources } from './custom-resources.ts';
import { deleting } from './deleting.ts';
import { deployments } from './deployments.ts';
import { discovery } from './discovery.ts';
import { errors } from './errors.ts';
import { events } from './events.ts';
import { nodesAndPods } from './nodes.ts';
import { reading } from './reading.ts';
import { rights } from './rights.ts';
import { watching } from './watching.ts';
import { applying, creatingAndReplacing } from './writing.ts';

export const chapters: readonly Chapter[] = [
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
