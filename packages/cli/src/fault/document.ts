import { dated } from '../show/schema.ts';
import { faultList } from './wire.ts';

export const faultsDocument = dated('tartan.faults/v1', { faults: faultList.shape.faults });
