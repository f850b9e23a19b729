import type { Client } from '@tartan/kube';
import type { ImageRecords } from '../images/image-records.ts';
import type { Journal } from '../journal/journal.ts';
import { type Collector, type CollectorOptions, createCollector } from './collector.ts';
import { createIsInJournal } from './in-journal.ts';
import { createMadeHere } from './made-here.ts';
import { createIsMarked } from './marked.ts';
import { createOpenFiles, type OpenFiles } from './open-files.ts';
import { podsOnNode } from './pods-on-node.ts';

export interface AgentCollectorOptions extends Omit<CollectorOptions, 'pods' | 'ownership' | 'openFiles'> {
  readonly client: Pick<Client, 'list'>;
  readonly nodeName: string;
  readonly journal: Pick<Journal, 'list'>;
  readonly records: Pick<ImageRecords, 'isMade' | 'forget'>;
  readonly tartHome: string;
  /** By lsof unless told. */
  readonly openFiles?: OpenFiles | undefined;
}

/** The collector of an agent: Pods from its Node, ownership from its journal, its records and its marks, open files from lsof. */
export const createAgentCollector = (options: AgentCollectorOptions): Collector => {
  const { client, nodeName, journal, records, tartHome, openFiles = createOpenFiles({ tartHome }), ...world } = options;
  return createCollector({
    ...world,
    pods: podsOnNode(client, nodeName, journal),
    ownership: createMadeHere({
      images: records,
      isInJournal: createIsInJournal(journal),
      isMarked: createIsMarked(tartHome),
    }),
    openFiles,
  });
};
