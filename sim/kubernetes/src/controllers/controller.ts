import type { Api } from '../api/api.ts';

/** One of the small controllers that make a control plane out of an API server. Constructing does nothing; `start` answers `stop`. */
export interface Controller {
  name: string;
  start(api: Api): () => void;
}
