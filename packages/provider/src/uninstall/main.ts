#!/usr/bin/env node
import { runAsProcess } from '../hooks/run-hook.ts';
import { runCheck } from './check.ts';

await runAsProcess(runCheck);
