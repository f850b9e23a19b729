import { type Cause, invalid, notSupported, required } from '../status/cause.ts';
import { fieldPathOf } from './field-path.ts';
import type { Schema, ValidationRule } from './schema.ts';

const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];
const hasLines = (text: string): boolean => /[\n\r]/.test(text);

/** What is wrong with a rule before it is compiled. */
export const ruleTextCauses = (rule: ValidationRule, schema: Schema, path: string): Cause[] => {
  const { message = '', messageExpression = '', fieldPath = '' } = rule;
  const causes: Cause[] = [];
  if (rule.rule.trim() === '') causes.push(required(`${path}.rule`, 'rule is not specified'));
  else if (message !== '' && message.trim() === '') {
    causes.push(invalid(`${path}.message`, message, 'must be non-empty if specified'));
  } else if (hasLines(message.trim())) causes.push(invalid(`${path}.message`, message, 'must not contain line breaks'));
  else if (hasLines(rule.rule.trim()) && message.trim() === '') {
    causes.push(required(`${path}.message`, 'message must be specified if rule contains line breaks'));
  }
  if (messageExpression !== '' && messageExpression.trim() === '') {
    causes.push(required(`${path}.messageExpression`, 'messageExpression must be non-empty if specified'));
  }
  if (rule.reason !== undefined && !reasons.includes(rule.reason)) {
    causes.push(notSupported(`${path}.reason`, rule.reason, reasons));
  }
  if (fieldPath !== '' && fieldPath.trim() === '') {
    causes.push(invalid(`${path}.fieldPath`, fieldPath, 'must be non-empty if specified'));
  }
  if (hasLines(fieldPath)) causes.push(invalid(`${path}.fieldPath`, fieldPath, 'must not contain line breaks'));
  if (fieldPath !== '' && fieldPathOf(fieldPath, schema) === undefined) {
    causes.push(invalid(`${path}.fieldPath`, fieldPath, 'must be a valid path'));
  }
  return causes;
};
