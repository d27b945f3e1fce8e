import './setup';
import '../main';
