import { startEmbedded } from '../testing/embedded.ts';
import { runKindSuite } from './suite/run.ts';

runKindSuite('the embedded Kubernetes with our kinds', startEmbedded);
